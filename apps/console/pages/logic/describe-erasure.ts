import type { Erasure, ErasureCounted } from '@automation/client'
import { countOf, formatCount } from './count-words.js'

type Kind = keyof Erasure['erased']

/** One of a kind, and many of it. */
const kinds: Record<Kind, readonly [one: string, many: string]> = {
  events: ['event', 'events'],
  executions: ['execution', 'executions'],
  tasks: ['task', 'tasks'],
  keptResponses: ['kept response', 'kept responses'],
  receipts: ['webhook receipt', 'webhook receipts'],
  rejections: ['rejected webhook', 'rejected webhooks'],
  backtests: ['backtest', 'backtests'],
  lastErrors: ['last error of a rule', 'last errors of rules'],
  acknowledgements: ['acknowledged error', 'acknowledged errors'],
  auditEntries: ['entry of the audit log', 'entries of the audit log'],
  deliveries: ['delivery to a subscription', 'deliveries to subscriptions'],
}

/** What was changed of each kind that has something: `12 events`. */
export function listErased(erased: Erasure['erased']): string[] {
  return Object.entries(kinds)
    .filter(([kind]) => erased[kind as Kind] > 0)
    .map(([kind, [one, many]]) => countOf(erased[kind as Kind], one, many))
}

/** For a row: the first three kinds, and how many rows more. */
export function sayErased(erased: Erasure['erased']): string {
  const shown = ['events', 'executions', 'tasks'] as const
  const sum = Object.values(erased).reduce((total, count) => total + count, 0)
  const others = shown.reduce((left, kind) => left - erased[kind], sum)
  const parts = shown.filter((kind) => erased[kind] > 0).map((kind) => countOf(erased[kind], ...kinds[kind]))
  if (others > 0) parts.push(parts.length > 0 ? `${formatCount(others)} more` : countOf(others, 'row'))
  return parts.join(', ')
}

/** What a dry run has found, in sentences. */
export function sayCounted({ events, executions, tasks, atLeast }: ErasureCounted): string {
  if (events === 0)
    return atLeast
      ? 'None of the newest events has this value at this path: counting stopped there. An erasure looks at all events.'
      : 'No event has this value at this path. Check both: letters in another case are another value.'
  const few = `${countOf(events, 'event has', 'events have')} this value at this path, with ${countOf(executions, 'execution')} and ${countOf(tasks, 'task')}.`
  return atLeast ? `At least ${few} There are more: an erasure takes all of them.` : few
}

/** What keeps an erasure from beginning. @returns undefined: nothing does */
export function sayUnfinished({ unfinished: { events, executions } }: ErasureCounted): string | undefined {
  const parts = [
    ...(executions > 0 ? [countOf(executions, 'execution')] : []),
    ...(events > 0 ? [countOf(events, 'event')] : []),
  ]
  if (parts.length === 0) return undefined
  const isOne = executions + events === 1
  return `${parts.join(' and ')} of this person ${isOne ? 'has' : 'have'} not ended, and would write the value again. The erasure can begin once ${isOne ? 'it has' : 'they have'}.`
}
