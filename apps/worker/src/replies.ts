import { type MatchedRun, type Reply, replyChannel } from '@automation/jobs'
import type { Redis } from 'ioredis'
import type { LoadedEvent } from './load-events.js'
import type { RuleSet } from './rule-set.js'
import type { Run } from './run.js'

/**
 * Tells waiting callers what came of their events, those of one turn of the event loop in one message. Nobody waits for it
 * here: a caller who is not told reads the stored outcome.
 */
export function createReplies(publisher: Redis, queuePrefix: string) {
  const waiting = new Map<string, Map<RuleSet, Reply['events']>>()

  /** @param instanceId the API instance on which the caller waits */
  return (instanceId: string, event: LoadedEvent, set: RuleSet, runs: Run[]): void => {
    // Put off, or another worker's by now: it is not known here what comes of it.
    if (runs.some(({ status }) => status === 'running')) return
    const bySet = waiting.get(instanceId) ?? new Map<RuleSet, Reply['events']>()
    if (bySet.size === 0) setImmediate(() => publish(instanceId))
    waiting.set(instanceId, bySet)
    const events = bySet.get(set) ?? []
    bySet.set(set, events)
    events.push({ id: event.id, runs: matchedRunsOf(event, set, runs) })
  }

  function publish(instanceId: string): void {
    const bySet = waiting.get(instanceId) ?? []
    waiting.delete(instanceId)
    const replies = Array.from(
      bySet,
      ([{ rules }, events]): Reply => ({ ruleIds: rules.map(({ id }) => id), events }),
    )
    publisher.publish(replyChannel(queuePrefix, instanceId), JSON.stringify(replies)).catch(() => {})
  }
}

/** @param runs of those rules that match, in the order of the set */
function matchedRunsOf(event: LoadedEvent, { rules }: RuleSet, runs: Run[]): MatchedRun[] {
  let place = -1
  return runs.map(({ rule, executionId, status, error, results }) => {
    place = rules.indexOf(rule, place + 1)
    const run: MatchedRun = { place, executionId, status }
    if (error !== null) run.error = error
    // The answer to a trigger does not tell of single actions.
    if (event.ruleId !== null) run.results = results
    return run
  })
}
