import type { ActionType } from '@automation/engine'
import { countOf } from './count-words.js'
import { describeHours, isHours } from './editing/hours.js'
import { show } from './show.js'

/** What one action of an execution was to do, or did: a line, what else is known, and what it sent. */
export interface ActionText {
  heading: string
  facts: [label: string, value: string][]
  /** Data that it sent; undefined if it sent none, or the event itself. */
  body?: unknown
}

type Config = Readonly<Record<string, unknown>>

/**
 * An action in words, with its placeholders filled.
 *
 * @param config undefined if it is not known: the rule was deleted, or the config is too long
 */
export function describeAction(type: string, config: unknown): ActionText {
  if (!Object.hasOwn(names, type)) return { heading: type, facts: [] }
  const known = type as ActionType
  if (typeof config !== 'object' || config === null) return { heading: names[known], facts: [] }
  return descriptions[known](config as Config)
}

const names: Readonly<Record<ActionType, string>> = {
  CREATE_TASK: 'Create a task',
  SEND_EMAIL: 'Send an email',
  SEND_WEBHOOK: 'Call a URL',
  SEND_NOTIFICATION: 'Send a chat message',
  EMIT_EVENT: 'Emit an event',
  WAIT: 'Wait',
}

const descriptions: Readonly<Record<ActionType, (config: Config) => ActionText>> = {
  CREATE_TASK: ({ title, dueIn, assigneeId, priority, description }) => ({
    heading: `Task: ${write(title)}`,
    facts: listFacts({
      Due: dueIn && `in ${write(dueIn)}`,
      For: assigneeId,
      Priority: priority,
      Details: description,
    }),
  }),
  SEND_EMAIL: ({ to, cc, bcc, replyTo, subject, template, variables }) => ({
    heading: `Email to ${write(to)}`,
    facts: listFacts({ Subject: subject, Template: template, Cc: cc, Bcc: bcc, 'Reply to': replyTo }),
    ...(variables !== undefined && { body: variables }),
  }),
  SEND_WEBHOOK: ({ method = 'POST', url, headers, body }) => ({
    heading: `${write(method)} ${write(url)}`,
    facts: listFacts({
      Headers: headers && Object.keys(headers as object).join(', '),
      Body: body === undefined && method !== 'GET' && method !== 'DELETE' ? 'the event' : undefined,
    }),
    ...(body !== undefined && { body }),
  }),
  SEND_NOTIFICATION: ({ url, text, format }) => ({
    heading: `Message: ${write(text)}`,
    facts: listFacts({ To: url, Format: format }),
  }),
  EMIT_EVENT: ({ eventType, data, ...rest }) => ({
    heading: `Event ${write(eventType)}`,
    facts: listFacts(rest),
    ...(data !== undefined && { body: data }),
  }),
  WAIT: ({ duration, until, offset, for: _awaited, decision, time, ...rest }) => ({
    heading:
      decision !== undefined
        ? 'Wait for a decision'
        : until === undefined
          ? `Wait ${write(duration)}`
          : `Wait until ${write(until)}`,
    facts: listFacts({
      'Moved by': offset,
      Then: isHours(time) ? `until ${describeHours(time)}` : time,
      Choices: (decision as Config | undefined)?.options,
      ...rest,
    }),
  }),
}

function listFacts(values: Record<string, unknown>): ActionText['facts'] {
  return Object.entries(values).flatMap(([label, value]): ActionText['facts'] =>
    value === undefined || value === null || value === '' ? [] : [[label, write(value)]],
  )
}

/** A text as it is; a list of texts with commas; anything else on one line. */
function write(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ')
  return show(value)
}

/** What the actions of several rules would send, counted: `1 email, 2 calls, 1 task`. */
export function countEffects(types: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  const parts = Object.entries(effects).flatMap(([type, [one, many]]) => {
    const count = counts.get(type) ?? 0
    return count === 0 ? [] : [countOf(count, one, many)]
  })
  return parts.join(', ')
}

const effects: Readonly<Record<ActionType, [one: string, many: string]>> = {
  SEND_EMAIL: ['email', 'emails'],
  SEND_WEBHOOK: ['call', 'calls'],
  SEND_NOTIFICATION: ['chat message', 'chat messages'],
  CREATE_TASK: ['task', 'tasks'],
  EMIT_EVENT: ['event', 'events'],
  WAIT: ['wait', 'waits'],
}
