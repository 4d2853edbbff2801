import { type LoadedEvent, type MatchedEvaluation, writeOutranked } from '@automation/ledger'
import { type Reply, replyChannel } from '@automation/queue'
import type { Redis } from 'ioredis'
import type { Execution } from '../executions/execution.js'
import type { EventWork } from './event-work.js'
import type { RuleSet } from './rule-set.js'

/**
 * Publishes outcomes for waiting callers, those of one turn of the event loop in one message. The worker does not wait for it: a
 * caller who gets no reply reads the stored outcome.
 */
export class Replies {
  readonly #publisher: Redis
  readonly #queuePrefix: string
  /** By API instance. */
  readonly #waiting = new Map<string, Map<RuleSet, Reply['events']>>()

  constructor(publisher: Redis, queuePrefix: string) {
    this.#publisher = publisher
    this.#queuePrefix = queuePrefix
  }

  /** @param instanceId the API instance on which the caller waits */
  send(
    instanceId: string,
    event: LoadedEvent,
    set: RuleSet,
    { executions, outranked }: Pick<EventWork, 'executions' | 'outranked'>,
  ): void {
    // A running execution was released, or another worker holds it: its outcome is not known here.
    if (executions.some(({ record }) => record.status === 'running')) return
    const bySet = this.#waiting.get(instanceId) ?? new Map<RuleSet, Reply['events']>()
    if (bySet.size === 0) setImmediate(() => this.#publish(instanceId))
    this.#waiting.set(instanceId, bySet)
    const events = bySet.get(set) ?? []
    bySet.set(set, events)
    events.push({
      id: event.id,
      matched: evaluationsOf(event, set, executions),
      ...(outranked && { outranked: writeOutranked(outranked) }),
      ...(event.chosenRuleIds && { chosen: event.chosenRuleIds }),
    })
  }

  #publish(instanceId: string): void {
    const bySet = this.#waiting.get(instanceId) ?? []
    this.#waiting.delete(instanceId)
    const replies = Array.from(
      bySet,
      ([{ rules }, events]): Reply => ({ ruleIds: rules.map(({ id }) => id), events }),
    )
    const channel = replyChannel(this.#queuePrefix, instanceId)
    this.#publisher.publish(channel, JSON.stringify(replies)).catch(() => {})
  }
}

/** @param executions of the rules that match, in the order of the set */
function evaluationsOf(event: LoadedEvent, { rules }: RuleSet, executions: Execution[]): MatchedEvaluation[] {
  let index = -1
  return executions.map(({ rule, record: { id, status, error, suppression, results } }) => {
    index = rules.indexOf(rule, index + 1)
    const evaluation: MatchedEvaluation = { index, executionId: id, status }
    if (error !== null) evaluation.error = error
    if (suppression !== undefined) evaluation.suppression = suppression
    // The response to a trigger has no results of single actions.
    if (event.addressee !== null) evaluation.results = results
    return evaluation
  })
}
