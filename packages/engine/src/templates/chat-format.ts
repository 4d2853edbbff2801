import type { Neighbours } from './loop-template.js'
import { compileMarkup } from './markup-template.js'
import type { Template } from './template.js'

/** The languages of chats, which read the texts of SEND_NOTIFICATION. */
export const chatFormats = ['slack', 'discord', 'teams', 'text'] as const
export type ChatFormat = (typeof chatFormats)[number]

const defaultFormat: ChatFormat = 'slack'

/** Where a placeholder stands in the author's text. */
interface ChatPlace {
  /** In the address of a link. */
  isInLink: boolean
  /** At the beginning of what Slack reads within `<` and `>`. */
  opensLink: boolean
  /** Behind an `@` of the author or what another placeholder writes. */
  maySpellMention: boolean
  /** Whether another placeholder or a letter follows. */
  goesOn: boolean
}

type Escape = (text: string, place: ChatPlace) => string

/** Makes what a placeholder writes text, whatever it looks like. The author's own markup works. */
const escapes: Record<ChatFormat, Escape> = {
  slack: escapeForSlack,
  discord: escapeForDiscord,
  teams: escapeForTeams,
  text: (text) => text,
}

/** The maximum length of a text. A longer value makes the action fail, and escaping makes none shorter. */
export const maxChatLength = 10_000

/** Compiles the text of a notification. A format that does not exist is reported by the schema. */
export function compileChatText(text: string, config: { format?: unknown }): Template | string {
  const format = chatFormats.find((name) => name === config.format) ?? defaultFormat
  return compileMarkup(text, ({ literals }, neighbours) => {
    const places = findPlaces(literals, format, neighbours)
    if (typeof places === 'string') return places
    return (value, index) =>
      value.length > maxChatLength ? value : escapes[format](value, places[index] as ChatPlace)
  })
}

/** Stands for a placeholder. */
const mark = '\0'

/** What ends a link. */
const linkEnd = /[\s<>()[\]\\`*|]/

/** Next to a list, another placeholder may stand right before, or behind. No link goes on over its border, so none has to be followed there. */
function findPlaces(
  literals: readonly string[],
  format: ChatFormat,
  neighbours: Neighbours,
): ChatPlace[] | string {
  let before = neighbours.before ? mark : ''
  const places = literals.slice(0, -1).map((literal, n) => {
    before = lastWord(before + literal)
    const isAngle = opensAngle(before, format)
    const after = literals[n + 1] as string
    const place = {
      isInLink: isInLink(before, format),
      opensLink: isAngle && /<\0*$/.test(before),
      maySpellMention: /[@\0]$/.test(before),
      goesOn: after === '' ? n + 2 < literals.length || neighbours.after : /^[a-z]/i.test(after),
    }
    before += mark
    return place
  })
  if (neighbours.after && format !== 'text' && isInLink(lastWord(before + literals.at(-1)), format))
    return 'has a link that goes on over {{#each}} or {{/each}}: end it before, such as by a space'
  return places
}

function isInLink(before: string, format: ChatFormat): boolean {
  return opensAngle(before, format) || /https?:\/\/|^\]\(/i.test(before)
}

function opensAngle(before: string, format: ChatFormat): boolean {
  return format === 'slack' && /^.?<(?![!@#])/s.test(before)
}

/** The end of a text in which a link may stand, with what is before it: `](` or `<`. */
function lastWord(text: string): string {
  for (let n = text.length - 1; n >= 0; n--)
    if (linkEnd.test(text[n] as string)) return text.slice(Math.max(0, n - 1))
  return text
}

/** The body of the request that a chat takes. */
export function writeChatBody({ text, format = defaultFormat }: { text: string; format?: ChatFormat }) {
  switch (format) {
    case 'discord':
      return { content: text, allowed_mentions: listMentions(text) }
    case 'teams':
      return writeCard(text)
    default:
      return { text }
  }
}

const zeroWidthSpace = '\u200b'

/** Slack has entities for `&`, `<` and `>` only. Other marks of its markup have look-alikes. */
const slackEscapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '*': '∗',
  _: 'ˍ',
  '~': '∼',
  '`': 'ˋ',
  ':': '꞉',
}

/**
 * `_` and `~` within a word are no markup, as in most ids, and digits between colons are a time of day. `@channel` and `[text](url)` are markup in
 * Mattermost and Rocket.Chat, which take Slack's format.
 */
const slackMarkup =
  /[&<>*`]|(?<![\p{L}\p{N}])[_~]|[_~](?![\p{L}\p{N}])|:(?!(?<=\d:)\d\d[:+-]\d)(?=[\w+'-]+:)/gu

function escapeForSlack(text: string, place: ChatPlace): string {
  if (place.isInLink) {
    const target = place.opensLink ? text.replace(/^[!@#]/, percentEncode) : text
    return escapeInLink(target, slackMention, place).replaceAll('&', '&amp;')
  }
  if (!place.maySpellMention && !/[&<>*_~`:@\]]/.test(text)) return text
  return escapeAroundLinks(
    breakMentions(text, slackMention, place),
    (part) =>
      part
        .replace(/^>|\](?=\()/gm, (found) => (found === '>' ? `${zeroWidthSpace}>` : `]${zeroWidthSpace}`))
        .replace(slackMarkup, (found) => slackEscapes[found] as string),
    (link) => link.replaceAll('&', '&amp;'),
  )
}

function escapeForDiscord(text: string, place: ChatPlace): string {
  if (place.isInLink) return escapeInLink(text, discordMention, place)
  return escapeAroundLinks(
    breakMentions(text, discordMention, place),
    (part) => escapeMarkdown(part).replace(/:(?=\w+:)/g, '\\:'),
    (link) => link,
  )
}

/** These chats read no markup in a link, so an escape would lead elsewhere. What could end the link is not part of it. */
function escapeAroundLinks(
  text: string,
  escapePart: (part: string) => string,
  escapeLink: (link: string) => string,
): string {
  // Of a text that is split by a group, every second part is what the group matched.
  return text
    .split(/(https?:\/\/[^\s<>()[\]\\`*|]+)/i)
    .map((part, n) => (n % 2 === 0 ? escapePart(part) : escapeLink(part)))
    .join('')
}

/** A card replaces `{{DATE(…)}}`, and its Markdown reads entities. */
function escapeForTeams(text: string, { isInLink }: ChatPlace): string {
  if (isInLink) return text.replace(/[\s<>()[\]\\`*|_~{}]|&(?=#?\w+;)/g, percentEncode)
  return escapeMarkdown(text).replace(/[{}]|&(?=#?\w+;)/g, '\\$&')
}

function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\`*_~[\]()<>|]/g, '\\$&')
    .replace(/^[ \t]*(?=(?:[-+]|-?#+)\s|[-=]{2})/gm, '$&\\')
    .replace(/^[ \t]*\d+(?=[.)](?:\s|$))/gm, '$&\\')
}

/**
 * What notifies in a text, also together with the next placeholder. Mattermost and Rocket.Chat, which take Slack's format, read no mention in
 * an email address. Discord reads `@everyone` anywhere.
 */
const slackMention = /(?<![\p{L}\p{N}])@(?=everyone|channel|here|all|[a-z]*$)/giu
const discordMention = /@(?=everyone|here|[a-z!&]*$)|(?<![\p{L}\p{N}_])@(?=[!&]?\d)/giu

function breakMentions(text: string, mention: RegExp, place: ChatPlace): string {
  return (spellsMention(text, place) ? zeroWidthSpace : '') + text.replace(mention, `@${zeroWidthSpace}`)
}

/** Whether a text completes a mention of all of which the `@` stands before it, perhaps with what follows. */
function spellsMention(text: string, { maySpellMention, goesOn }: ChatPlace): boolean {
  if (!maySpellMention || text === '') return false
  const start = text.slice(0, 'everyone'.length).toLowerCase()
  const isPart = goesOn && text.length === start.length
  return (
    /^(?:everyone|here|(?:channel|all)(?![a-z\d]))/.test(start) ||
    (isPart && ['everyone', 'here', 'channel', 'all'].some((name) => name.startsWith(start)))
  )
}

/** A value in a link of the author: it leads where the author means it, and does not end there. */
function escapeInLink(text: string, mention: RegExp, place: ChatPlace): string {
  const target = spellsMention(text, place) ? text.replace(/^./, percentEncode) : text
  return target.replace(mention, percentEncode).replace(/[\s<>()[\]\\`*|]/g, percentEncode)
}

function percentEncode(sign: string): string {
  return /[ -~]/.test(sign) ? `%${sign.charCodeAt(0).toString(16).toUpperCase()}` : encodeURIComponent(sign)
}

/** Discord mentions these alone, whatever else the text looks like: what placeholders write has no mentions any more. */
function listMentions(text: string) {
  // A lookbehind for backslashes would read them again and again.
  const unescaped = text.replace(/\\./gs, ' ')
  const idsOf = (pattern: RegExp) =>
    [...new Set(Array.from(unescaped.matchAll(pattern), ([, id]) => id))].slice(0, 100)
  return {
    parse: /@(?:everyone|here)/.test(text) ? ['everyone'] : [],
    users: idsOf(/<@!?(\d{1,20})>/g),
    roles: idsOf(/<@&(\d{1,20})>/g),
  }
}

/** Teams takes an Adaptive Card. */
function writeCard(text: string) {
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'TextBlock', text, wrap: true }],
        },
      },
    ],
  }
}
