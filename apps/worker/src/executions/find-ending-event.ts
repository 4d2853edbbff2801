import { yieldEvery } from '@automation/admission'
import { type Database, postgresNow, waitKeyOf } from '@automation/database'
import {
  defaultWorkLimits,
  type EndingEvent,
  Evaluation,
  endsWait,
  type Match,
  type WaitFor,
  type WorkLimits,
  writeMatch,
} from '@automation/engine'
import { findEndingEvents, maxOpenWaits, nothingSeen, TimeOuts, tooManySeen } from '@automation/ledger'
import { findAfter } from './await-event.js'
import type { Execution, Look } from './execution.js'

/** How soon (ms) an execution looks again whose time is over while events of its type are still to be run: the longer it is over, the later. */
const againMs = { least: 250, most: 5_000 }
/** A claim may be as much too early (ms). */
const earlyMs = 500
/** How long (ms) a look may hold the event loop before others have a turn. */
const sliceMs = 10
/** What it costs to read an event, some 0.1 ms, beside its conditions. */
const unitsOfEvent = 4_000

const refused: Look = {
  ...{ found: undefined, isOver: false, seen: nothingSeen, again: undefined, warnings: [] },
  refusal: `${maxOpenWaits.toLocaleString('en-US')} executions wait for an event with this \`match\` already`,
}

/**
 * Creates a function that looks for the event that ends the WAIT of a claimed execution: among those with its key that were not looked at yet, the
 * earliest one. Undefined where the execution waits for none.
 *
 * Whether its time is over is asked first: the events that were accepted in time have left their keys by then, so that the look finds them.
 */
export function createEventFinder(database: Database, workLimits: WorkLimits | undefined) {
  const timeOuts = new TimeOuts(database)
  return async (execution: Execution, waitSeen: string | null): Promise<Look | undefined> => {
    const { record, rule, event } = execution
    const index = record.results.findIndex((result) => result?.status === 'scheduled' && result.waitsFor)
    const { until: untilText, waitsFor } = record.results[index] ?? {}
    if (waitsFor === undefined || 'fault' in rule.compiled) return undefined
    const waitFor = rule.compiled.actions[index]?.waitFor
    if (waitFor === undefined || waitFor.isDecision) return undefined
    if (waitSeen === tooManySeen) return refused
    const { workspaceId } = event
    const { eventType } = waitFor
    const match = waitsFor.match as Match
    const until = Date.parse(untilText ?? '')
    const isLate = postgresNow() >= until - earlyMs
    const overdue = Math.min(againMs.most, Math.max(againMs.least, (postgresNow() - until) / 4))
    const next = isLate ? Math.max(until, postgresNow() + overdue) : undefined
    const isOver = isLate && (await timeOuts.isOver({ workspaceId, eventType, until }))
    const key = waitKeyOf(workspaceId, writeMatch(eventType, match))
    const wait = {
      key,
      eventType,
      seen: waitSeen ?? nothingSeen,
      after: findAfter(execution),
      until,
    }
    const { handlerId: ruleId, ruleVersion } = record
    const comparison = new Comparison(waitFor, match, workLimits)
    const looking = { workspaceId, ruleId, ruleVersion, wait }
    const { seen, hasMore, isCut } = await findEndingEvents(database, looking, (one) =>
      comparison.compare(one),
    )
    const { found, warnings } = comparison
    if (isCut) warnings.add('Not all events from before the rule was saved were compared with the WAIT')
    const again = hasMore ? postgresNow() : next
    return { found, isOver: isOver && !hasMore, seen, again, warnings: [...warnings] }
  }
}

/**
 * One look: it compares events with a WAIT, and keeps the earliest that ends it. Each event has its own work, so that those that do not match cost the waiting
 * execution nothing; what all of them cost ends the look, and the next one goes on.
 */
class Comparison {
  found: EndingEvent | undefined
  readonly warnings = new Set<string>()
  readonly #waitFor: WaitFor
  readonly #match: Match
  readonly #limits: WorkLimits
  #spent = 0

  constructor(waitFor: WaitFor, match: Match, limits: WorkLimits = defaultWorkLimits) {
    this.#waitFor = waitFor
    this.#match = match
    this.#limits = limits
  }

  /** @returns whether there is work left for another event */
  async compare(event: EndingEvent): Promise<boolean> {
    if (this.found !== undefined && !isBefore(event, this.found)) return true
    await yieldEvery(sliceMs)
    const evaluation = new Evaluation(event.acceptedAt, this.#limits)
    if (endsWait(this.#waitFor, this.#match, event.data, evaluation)) this.found = event
    if (evaluation.fault !== null) this.warnings.add(`An event did not end the WAIT: ${evaluation.fault}`)
    this.#spent += evaluation.spent + unitsOfEvent
    return this.#spent < this.#limits.event
  }
}

function isBefore(one: EndingEvent, other: EndingEvent): boolean {
  return one.acceptedAt < other.acceptedAt || (one.acceptedAt === other.acceptedAt && one.id < other.id)
}
