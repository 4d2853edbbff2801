import type { BacktestReport } from '@automation/backtest'
import { firstIdOf } from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { findSettled, type ScannedEvent } from '@automation/ledger'
import { readEarlierRules } from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../errors.js'
import { scanInTurns } from '../evaluation/scan-in-turns.js'
import type { RuleDifference } from './difference.js'
import {
  isOver,
  readReport,
  readState,
  type State,
  type Subject,
  storeDifference,
} from './stored-difference.js'

interface Continued {
  state: State
  report: BacktestReport
}

const pauseMs = 60_000
/** Of one response. */
const scanLimits = { events: 50_000, ms: 2_000 }
/** An id is made before its event is accepted: by the clock of a process, and perhaps by a worker that waited for Postgres. */
const idAheadMs = 600_000

/**
 * Continues a difference, and stores how far it came:
 *
 *   since ── in it ── from ── the part that is being read ── to ── settled, for the next response ── now
 *
 * A part is the events that were accepted in an interval, all of them: it ends where nothing can be committed any more. So each event is in one
 * part, however often the response was continued. Two callers at a time compute the same; one of them stores it.
 */
export async function readDifference(
  request: FastifyRequest,
  subject: Subject,
  limits: WorkLimits,
): Promise<RuleDifference> {
  const { database } = request.workspace
  const known = await readReport(database, subject)
  if (known?.report && Date.now() - known.computedAt.getTime() < pauseMs)
    return { ...known.report, computedAt: known.computedAt.toISOString() }
  const stored = known && (await readState(database, subject))
  const since = subject.since.getTime()
  const begun = await beginPart(request, stored?.state ?? { from: since, to: since, after: null })
  let state = begun
  let report: BacktestReport | undefined
  const computedAt = new Date()
  try {
    const continued = await continueState(request, subject, state, limits, (progress) => {
      state = progress
    })
    state = continued.state
    report = continued.report
    return { ...report, computedAt: computedAt.toISOString() }
  } finally {
    // Also where a part of it failed, if it came further: the next response goes on behind what was evaluated.
    const before = stored?.computedAt
    if (state !== begun)
      await storeDifference(request.workspace, subject, { state, report, computedAt, before })
  }
}

async function beginPart({ workspace }: FastifyRequest, state: State): Promise<State> {
  if (!isOver(state)) return state
  const settled = await findSettled(workspace.reads)
  return { ...state, to: Math.max(state.from, settled.getTime()) }
}

async function continueState(
  request: FastifyRequest,
  { ruleId, active, draft, since }: Subject,
  { from, to, ...state }: State,
  limits: WorkLimits,
  onProgress: (state: State) => void,
): Promise<Continued> {
  const tested = { ruleId, ...(active && { active }), draft }
  const earlier = await readEarlierRules(request.workspace.reads, request.workspace.id, tested)
  const subject = { ...tested, earlier, from: since.getTime(), to }
  let { saved, uncounted = 0 } = state
  const passedBefore = uncounted
  const takeTurn = async (events: ScannedEvent[]) => {
    const turn = await request.evaluate('continueBacktest', { subject, saved, events, limits })
    if ('fault' in turn) throw refusals.notComparable(turn.fault)
    saved = turn.saved
    uncounted += turn.used
    onProgress({ from, to, after: events[turn.used - 1]?.id ?? null, saved, uncounted })
    return turn
  }
  const range = {
    order: 'oldest first' as const,
    type: [...new Set([draft.trigger, active?.definition.trigger ?? draft.trigger])],
    from: new Date(from),
    to: new Date(to),
  }
  const after = state.after ?? firstIdOf(Math.max(0, from - idAheadMs))
  const { scanned, end } = await scanInTurns(request, range, after, scanLimits, takeTurn)
  const isComplete = end === undefined
  const passed = passedBefore + scanned
  const reported = await request.evaluate('reportBacktest', { subject, saved, passed, isComplete, limits })
  if ('fault' in reported) throw refusals.notComparable(reported.fault)
  return {
    state: { from: isComplete ? to : from, to, after: end ?? null, saved: reported.saved },
    report: reported.report,
  }
}
