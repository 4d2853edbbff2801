import type { Run } from './answer.js'

/**
 * What a worker publishes after the commit, where a caller waits: several in one message. Pub/sub delivers at most once:
 * the stored outcome is the truth, and the API reads it when a reply was missed.
 */
export interface Reply {
  eventId: string
  runs: Run[]
}

/** One channel for each API instance: the cost of a reply does not grow with the number of instances. */
export function replyChannel(queuePrefix: string, instanceId: string): string {
  return `${queuePrefix}:reply:${instanceId}`
}
