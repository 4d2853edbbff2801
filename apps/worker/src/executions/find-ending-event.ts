import { createReadBatcher, type Database, waitKeyOf } from '@automation/database'
import {
  type EndingEvent,
  Evaluation,
  endsWait,
  type Match,
  type WorkLimits,
  writeMatch,
} from '@automation/engine'
import { findEndingEvents, findTimeOuts, nothingSeen, type TimeOut } from '@automation/ledger'
import { findAfter } from './await-event.js'
import type { Execution, Look } from './execution.js'

/** How soon (ms) an execution looks again whose time is over while events of its type are still to be run. */
const againMs = 250
/** A claim may be as much too early (ms). */
const earlyMs = 500

/**
 * Creates a function that looks for the event that ends the WAIT of a claimed execution: among those with its key that were not looked at yet, the
 * earliest one. Undefined where the execution waits for none.
 *
 * Whether its time is over is asked first: the events that were accepted in time have left their keys by then, so that the look finds them.
 */
export function createEventFinder(database: Database, workLimits: WorkLimits | undefined) {
  const isTimeOver = createReadBatcher<TimeOut, boolean>((waits) => findTimeOuts(database, waits))
  return async (execution: Execution, waitSeen: string | null): Promise<Look | undefined> => {
    const { record, rule, event } = execution
    const index = record.results.findIndex((result) => result?.status === 'scheduled' && result.waitsFor)
    const { until: untilText, waitsFor } = record.results[index] ?? {}
    if (waitsFor === undefined || 'fault' in rule.compiled) return undefined
    const waitFor = rule.compiled.actions[index]?.waitFor
    if (waitFor === undefined) return undefined
    const { workspaceId } = event
    const { eventType } = waitFor
    const match = waitsFor.match as Match
    const until = Date.parse(untilText ?? '')
    const isLate = Date.now() >= until - earlyMs
    const isOver = isLate && (await isTimeOver({ workspaceId, eventType, until }))
    const key = waitKeyOf(workspaceId, writeMatch(eventType, match))
    const wait = { key, eventType, seen: waitSeen ?? nothingSeen, after: findAfter(execution), until }
    const { ruleId, ruleVersion } = record
    const { events, seen, hasMore } = await findEndingEvents(database, {
      workspaceId,
      ruleId,
      ruleVersion,
      wait,
    })
    const warnings = new Set<string>()
    const ending = events.filter(({ acceptedAt, data }) => {
      const evaluation = new Evaluation(acceptedAt, workLimits)
      const ends = endsWait(waitFor, match, data, evaluation)
      execution.evaluation.charge(evaluation.spent)
      if (evaluation.fault !== null) warnings.add(`An event did not end the WAIT: ${evaluation.fault}`)
      return ends
    })
    const again = hasMore ? Date.now() : isLate ? Math.max(until, Date.now() + againMs) : undefined
    return { found: findEarliest(ending), isOver: isOver && !hasMore, seen, again, warnings: [...warnings] }
  }
}

function findEarliest(events: readonly EndingEvent[]): EndingEvent | undefined {
  return events.reduce<EndingEvent | undefined>(
    (first, event) => (first === undefined || isBefore(event, first) ? event : first),
    undefined,
  )
}

function isBefore(one: EndingEvent, other: EndingEvent): boolean {
  return one.acceptedAt < other.acceptedAt || (one.acceptedAt === other.acceptedAt && one.id < other.id)
}
