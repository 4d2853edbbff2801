import type { CheckedRule } from './finding.js'

type Action = CheckedRule['actions'][number]

/** What an action does to whom: actions with the same key do the same to the same target. Undefined where it does nothing outside. */
export function effectOf({ type, config }: Action): string | undefined {
  const key = keyOf(type, config as Record<string, unknown>)
  return key === undefined ? undefined : JSON.stringify([type, ...key])
}

/** Says what two actions both do. */
export function describeEffect({ type, config }: Action): string {
  const fields = config as Record<string, unknown>
  switch (type) {
    case 'SEND_EMAIL':
      return `mail ${fields.to}`
    case 'CREATE_TASK':
      return `create the task ${JSON.stringify(fields.title)}`
    case 'SEND_WEBHOOK':
      return `send ${fields.method ?? 'POST'} to ${fields.url}`
    case 'SEND_NOTIFICATION':
      return `post the same text to ${fields.url}`
    case 'EMIT_EVENT':
      return `emit ${fields.eventType} with the same data`
    default:
      return type
  }
}

function keyOf(type: Action['type'], config: Record<string, unknown>): unknown[] | undefined {
  switch (type) {
    // A person has two mails, whatever is in them.
    case 'SEND_EMAIL':
      return [config.to]
    case 'CREATE_TASK':
      return [config.title, config.assigneeId]
    // Two requests that set or delete one thing; two that add something only where it is the same.
    case 'SEND_WEBHOOK':
      return [config.method ?? 'POST', config.url, (config.method ?? 'POST') === 'POST' ? config.body : null]
    // A chat takes many texts.
    case 'SEND_NOTIFICATION':
      return [config.url, config.text]
    case 'EMIT_EVENT':
      return [config.eventType, config.data]
    default:
      return undefined
  }
}
