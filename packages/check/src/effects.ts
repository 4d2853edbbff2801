import { type ActionType, type CheckedRule, shortenDescription } from '@automation/engine'
import { isRecorded } from './recorded-parts.js'

type Action = CheckedRule['actions'][number]
type Config = Record<string, unknown>

interface EffectOfType {
  /** What is done to whom: two actions of a type with equal parts do the same to the same target. Undefined if nothing is done outside. */
  parts: ((config: Config) => unknown[]) | undefined
  /** What two actions both do. */
  describe(config: Config): string
}

const effects: Record<ActionType, EffectOfType> = {
  // A person has two mails, whatever is in them.
  SEND_EMAIL: { parts: ({ to }) => [[to].flat()], describe: ({ to }) => `mail ${[to].flat().join(', ')}` },
  CREATE_TASK: {
    parts: ({ title, assigneeId }) => [title, assigneeId],
    describe: ({ title }) => `create the task ${JSON.stringify(title)}`,
  },
  // Two requests that set or delete one thing; two that add something only if it is the same.
  SEND_WEBHOOK: {
    parts: ({ method = 'POST', url, body }) => [method, url, method === 'POST' ? body : null],
    describe: ({ method = 'POST', url }) => `send ${method} to ${url}`,
  },
  // A chat takes many texts.
  SEND_NOTIFICATION: {
    parts: ({ url, text, format = 'slack' }) => [url, text, format],
    describe: ({ url }) => `post the same text to ${url}`,
  },
  EMIT_EVENT: {
    parts: ({ eventType, forEach = null, where = null, data }) => [eventType, forEach, where, data],
    describe: ({ eventType }) => `emit ${eventType} with the same data`,
  },
  WAIT: { parts: undefined, describe: () => 'WAIT' },
}

/** A key that actions with the same effect share. Undefined if an action does nothing outside, or if no event decides what. */
export function effectOf(action: Action): string | undefined {
  if (isRecorded(action)) return undefined
  const { type, config } = action
  const parts = effects[type].parts?.(config as Config)
  return parts === undefined ? undefined : JSON.stringify([type, ...parts])
}

/** Says what two actions both do. */
export function describeEffect({ type, config }: Action): string {
  return shortenDescription(effects[type].describe(config as Config))
}
