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
  return breakMentions(text)
    .replace(/^>|\](?=\()/gm, (found) => (found === '>' ? `${zeroWidthSpace}>` : `]${zeroWidthSpace}`))
    .replace(slackMarkup, (found) => slackEscapes[found] as string)
}

function escapeForDiscord(text: string): string {
  return escapeMarkdown(breakMentions(text)).replace(/:(?=\w+:)/g, '\\:')
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

/** A mention of all may begin with an `@` of the author, and end in the next placeholder. */
function breakMentions(text: string): string {
  return text
    .replace(/@(?=everyone|channel|here|all|[!&]?\d|[a-z!&]*$)/gi, `@${zeroWidthSpace}`)
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
