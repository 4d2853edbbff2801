import { type Reply, replyChannel } from '@automation/jobs'
import type { Redis } from 'ioredis'
import type { LoadedEvent } from './load-events.js'
import type { RuleSet } from './rule-set.js'
import type { Run } from './run.js'

/**
 * Tells waiting callers what came of their events, those of one turn of the event loop in one message. Nobody waits for it
 * here: a caller who is not told reads the stored outcome.
 */
export function createReplies(publisher: Redis, queuePrefix: string) {
  const waiting = new Map<string, Reply[]>()

  /** @param instanceId the API instance on which the caller waits */
  return (instanceId: string, event: LoadedEvent, set: RuleSet, runs: Run[]): void => {
    // Put off, or another worker's by now: it is not known here what comes of it.
    if (runs.some(({ status }) => status === 'running')) return
    const replies = waiting.get(instanceId)
    if (replies) {
      replies.push(replyOf(event, set, runs))
      return
    }
    waiting.set(instanceId, [replyOf(event, set, runs)])
    setImmediate(() => publish(instanceId))
  }

  function publish(instanceId: string): void {
    const replies = waiting.get(instanceId)
    waiting.delete(instanceId)
    publisher.publish(replyChannel(queuePrefix, instanceId), JSON.stringify(replies)).catch(() => {})
  }
}

/** @param runs of those rules that match, in the order of the set */
function replyOf(event: LoadedEvent, { rules }: RuleSet, runs: Run[]): Reply {
  let matched = 0
  return {
    eventId: event.id,
    runs: rules.map((rule) => {
      const run = runs[matched]
      if (run?.rule !== rule)
        return { ruleId: rule.id, executionId: null, status: 'not_matched', error: null, results: [] }
      matched++
      const { executionId, status, error, results } = run
      // The answer to a trigger does not tell of single actions.
      return { ruleId: rule.id, executionId, status, error, results: event.ruleId === null ? [] : results }
    }),
  }
}
