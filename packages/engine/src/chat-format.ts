import { compileMarkup, type Template } from './template.js'

/** The languages of chats, which read the texts of SEND_NOTIFICATION. */
export const chatFormats = ['slack', 'discord', 'teams', 'text'] as const
export type ChatFormat = (typeof chatFormats)[number]

const defaultFormat: ChatFormat = 'slack'

/** Makes what a placeholder writes text, whatever it looks like. The author's own markup works. */
const escapes: Record<ChatFormat, (text: string) => string> = {
  slack: escapeForSlack,
  discord: escapeForDiscord,
  teams: escapeForTeams,
  text: (text) => text,
}

/** Compiles the text of a notification. A format that does not exist is reported by the schema. */
export function compileChatText(text: string, config: { format?: unknown }): Template | string {
  const format = chatFormats.find((name) => name === config.format) ?? defaultFormat
  return compileMarkup(text, escapes[format])
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

function escapeForSlack(text: string): string {
  if (!/[&<>*_~`:@\]]|^[aceh]/i.test(text)) return text
  return escapeAroundLinks(
    breakMentions(text, slackMention),
    (part) =>
      part
        .replace(/^>|\](?=\()/gm, (found) => (found === '>' ? `${zeroWidthSpace}>` : `]${zeroWidthSpace}`))
        .replace(slackMarkup, (found) => slackEscapes[found] as string),
    (link) => link.replaceAll('&', '&amp;'),
  )
}

function escapeForDiscord(text: string): string {
  return escapeAroundLinks(
    breakMentions(text, discordMention),
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
function escapeForTeams(text: string): string {
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
const slackMention = /(?<![\p{L}\p{N}_])@(?=everyone|channel|here|all|[a-z]*$)/giu
const discordMention = /@(?=everyone|here|[a-z!&]*$)|(?<![\p{L}\p{N}_])@(?=[!&]?\d)/giu

/** The `@` of a mention may also be the author's. */
function breakMentions(text: string, mention: RegExp): string {
  return text
    .replace(mention, `@${zeroWidthSpace}`)
    .replace(/^(?=everyone|here|(?:channel|all)\b)/i, zeroWidthSpace)
}

/** Discord mentions these alone, whatever else the text looks like: what placeholders write has no mentions any more. */
function listMentions(text: string) {
  const idsOf = (pattern: RegExp) =>
    [...new Set(Array.from(text.matchAll(pattern), ([, id]) => id))].slice(0, 100)
  return {
    parse: /@(?:everyone|here)/.test(text) ? ['everyone'] : [],
    users: idsOf(/(?<=(?:^|[^\\])(?:\\\\)*)<@!?(\d{1,20})>/g),
    roles: idsOf(/(?<=(?:^|[^\\])(?:\\\\)*)<@&(\d{1,20})>/g),
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
