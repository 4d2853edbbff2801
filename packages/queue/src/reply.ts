import type { MatchedEvaluation, Outranked } from '@automation/ledger'

/**
 * What a worker publishes after a commit for callers who wait, several outcomes in one message. Pub/sub delivers at most once: the
 * stored outcome is the truth, and the API reads it when a reply was missed.
 */
export interface Reply {
  /** The rules that these events have considered, in creation order. */
  ruleIds: string[]
  events: { id: string; matched: MatchedEvaluation[]; outranked?: Outranked[]; chosen?: string[] }[]
}

/**
 * One channel for each API instance: the cost of a reply does not grow with the number of instances. The name stands for the shape
 * of the message too: a process of another version listens elsewhere, and the stored outcome answers instead.
 */
export function replyChannel(queuePrefix: string, instanceId: string): string {
  return `${queuePrefix}:evaluations:${instanceId}`
}
