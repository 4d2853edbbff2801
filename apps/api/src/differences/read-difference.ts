import type { BacktestReport, BacktestSubject, SavedBacktest } from '@automation/backtest'
import { firstIdOf, Prisma } from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { findSettled, type ScannedEvent, scanEvents } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import type { RuleDifference } from './difference.js'

/** What is compared, and since when. */
export interface Subject extends Required<Pick<BacktestSubject, 'ruleId' | 'draft'>> {
  kind: 'draft' | 'shadow'
  /** Another one begins again. */
  name: string
  since: Date
  active: BacktestSubject['active'] | undefined
}

/** How far a difference is computed. Times are epoch ms. */
interface State {
  /** Events accepted before then are in it. */
  from: number
  /** The part that is being read ends before then; equal to `from` where it is over. */
  to: number
  /** The last id of that part that is in it. */
  after: string | null
  saved?: SavedBacktest
  report?: BacktestReport
}

interface Stored {
  state: State
  computedAt: Date
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
  const stored = await readStored(request, subject)
  if (stored?.state.report && isOver(stored.state) && Date.now() - stored.computedAt.getTime() < pauseMs)
    return { ...stored.state.report, computedAt: stored.computedAt.toISOString() }
  const since = subject.since.getTime()
  const begun = await beginPart(request, stored?.state ?? { from: since, to: since, after: null })
  const { report, ...state } = await continueState(request, subject, begun, limits)
  const computedAt = new Date()
  await store(request, subject, { ...state, report }, stored?.computedAt, computedAt)
  return { ...report, computedAt: computedAt.toISOString() }
}

function isOver({ from, to }: State): boolean {
  return from === to
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
): Promise<State & { report: BacktestReport }> {
  const subject = { ruleId, ...(active && { active }), draft, from: since.getTime(), to }
  const startedAt = performance.now()
  let { saved } = state
  const visit = async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (let start = 0; start < events.length; ) {
      const turn = await request.judge('continueBacktest', {
        subject,
        saved,
        events: events.slice(start),
        limits,
      })
      saved = turn.saved
      start += turn.used
      // Expensive rules end the response within a slice.
      if (start < events.length && performance.now() - startedAt > scanLimits.ms) return events[start - 1]?.id
    }
    return undefined
  }
  const range = {
    workspaceId: request.workspace.id,
    order: 'oldest first' as const,
    type: [...new Set([draft.trigger, active?.definition.trigger ?? draft.trigger])],
    from: new Date(from),
    to: new Date(to),
  }
  const after = state.after ?? firstIdOf(Math.max(0, from - idAheadMs))
  const { scanned: passed, end } = await scanEvents(request.workspace.reads, range, after, scanLimits, visit)
  const isComplete = end === undefined
  const reported = await request.judge('reportBacktest', { subject, saved, passed, isComplete, limits })
  return { from: isComplete ? to : from, to, after: end ?? null, ...reported }
}

async function readStored({ workspace }: FastifyRequest, subject: Subject): Promise<Stored | undefined> {
  const { ruleId, kind } = subject
  const row = await workspace.database.ruleDifference.findUnique({ where: { ruleId_kind: { ruleId, kind } } })
  if (row?.subject !== subject.name) return undefined
  return { state: row.state as unknown as State, computedAt: row.computedAt }
}

/** Unless somebody else has continued it meanwhile, or the rule is gone. */
async function store(
  { workspace }: FastifyRequest,
  { ruleId, kind, name }: Subject,
  state: State,
  before: Date | undefined,
  computedAt: Date,
): Promise<void> {
  await workspace.database.$executeRaw(Prisma.sql`
    INSERT INTO rule_differences (rule_id, kind, workspace_id, subject, state, computed_at)
    SELECT id, ${kind}, workspace_id, ${name}, ${JSON.stringify(state)}::json, ${computedAt}
    FROM rules WHERE id = ${ruleId}::uuid AND workspace_id = ${workspace.id}::uuid
    ON CONFLICT (rule_id, kind) DO UPDATE
    SET subject = excluded.subject, state = excluded.state, computed_at = excluded.computed_at
    WHERE rule_differences.subject <> excluded.subject OR rule_differences.computed_at = ${before ?? null}`)
}
