import type { AttentionItem } from '@automation/client'
import { countOf, formatCount } from './count-words.js'

const reasons: Record<AttentionItem['reason'], string> = {
  failures: 'fails often',
  unknown_outcome: 'has a call with an unknown outcome',
  event_loop: 'is in an event loop',
  work_budget: 'exceeds the evaluation limit',
  event_budget: 'emits too many events',
  worker_crashes: 'was switched off because it crashed workers',
  auto_paused: 'was switched off because it failed too often',
  guard_tripped: 'was rolled back: the promoted version exceeded a limit of its guard',
  recent_failure: 'failed in its latest execution',
  silent: 'is silent: it has matched nothing for longer than expected',
}

/** What is wrong with a rule, and which time to say with it: since when, or when last. */
export function describeAttention({
  reason,
  since,
  lastFailureAt,
  failuresInARow,
  failureCount,
}: Pick<AttentionItem, 'reason' | 'since' | 'lastFailureAt' | 'failuresInARow' | 'failureCount'>): {
  text: string
  word: 'since' | 'last'
  at: string
} {
  if (reason === 'recent_failure') return { text: reasons[reason], word: 'last', at: lastFailureAt }
  if (reason !== 'failures')
    return { text: reasons[reason] ?? `needs attention: ${reason}`, word: 'since', at: since }
  if (failuresInARow < 2)
    return { text: `has failed ${countOf(failureCount, 'time')}`, word: 'last', at: lastFailureAt }
  const text = `failed ${formatCount(failuresInARow)} times in a row`
  return { text, word: 'since', at: since }
}
