import { firstIdOf, Prisma } from '@automation/database'
import type { WorkLimits } from '@automation/engine'
import { findSettled, type ScannedEvent, scanEvents } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { type Comparison, type Matcher, nothingCompared } from './compare-events.js'
import type { Difference } from './difference.js'

/** What is compared, and since when. */
export interface Subject {
  ruleId: string
  kind: 'draft' | 'shadow'
  /** Another one begins again. */
  subject: string
  since: Date
  active: Matcher | null
  draft: Matcher
}

/** How far a difference is computed. Times are epoch ms. */
interface State {
  /** Events accepted before then are in it. */
  from: number
  /** The part that is being read ends before then; equal to `from` where it is over. */
  to: number
  /** The last id of that part that is in it. */
  after: string | null
  scanned: number
  comparison: Comparison
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
): Promise<Difference> {
  const stored = await readStored(request, subject)
  if (stored !== undefined && isOver(stored.state) && Date.now() - stored.computedAt.getTime() < pauseMs)
    return present(subject, stored.state, stored.computedAt)
  const since = subject.since.getTime()
  const known = stored?.state ?? {
    from: since,
    to: since,
    after: null,
    scanned: 0,
    comparison: nothingCompared,
  }
  const state = await continueState(request, subject, await beginPart(request, known), limits)
  const computedAt = new Date()
  await store(request, subject, state, stored?.computedAt, computedAt)
  return present(subject, state, computedAt)
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
  { active, draft }: Subject,
  state: State,
  limits: WorkLimits,
): Promise<State> {
  const startedAt = performance.now()
  let { comparison } = state
  const visit = async (events: ScannedEvent[]): Promise<string | undefined> => {
    for (let start = 0; start < events.length; ) {
      const rest = events
        .slice(start)
        .map(({ id, type, json, acceptedAt }) => ({ id, type, json, acceptedAt }))
      const turn = await request.judge('compareEvents', { active, draft, events: rest, limits, comparison })
      comparison = turn.comparison
      start += turn.used
      // Expensive conditions end the response within a slice.
      if (start < events.length && performance.now() - startedAt > scanLimits.ms) return events[start - 1]?.id
    }
    return undefined
  }
  const range = {
    workspaceId: request.workspace.id,
    order: 'oldest first' as const,
    ...((active === null || active.trigger === draft.trigger) && { type: draft.trigger }),
    from: new Date(state.from),
    to: new Date(state.to),
  }
  const after = state.after ?? firstIdOf(Math.max(0, state.from - idAheadMs))
  const { scanned, end } = await scanEvents(request.workspace.reads, range, after, scanLimits, visit)
  const read = { scanned: state.scanned + scanned, comparison, to: state.to }
  return end === undefined
    ? { ...read, from: state.to, after: null }
    : { ...read, from: state.from, after: end }
}

function present(
  { since, active }: Subject,
  { from, to, scanned, comparison }: State,
  computedAt: Date,
): Difference {
  const { considered, same, added, removed, notJudged, examples } = comparison
  return {
    since: since.toISOString(),
    to: new Date(to).toISOString(),
    computedAt: computedAt.toISOString(),
    isComplete: from === to,
    scanned,
    considered,
    active: active && { matched: comparison.active },
    draft: { matched: comparison.draft },
    difference: { same, added, removed },
    notJudged,
    examples,
  }
}

async function readStored({ workspace }: FastifyRequest, subject: Subject): Promise<Stored | undefined> {
  const { ruleId, kind } = subject
  const row = await workspace.database.ruleDifference.findUnique({ where: { ruleId_kind: { ruleId, kind } } })
  if (row?.subject !== subject.subject) return undefined
  return { state: row.state as unknown as State, computedAt: row.computedAt }
}

/** Unless somebody else has continued it meanwhile, or the rule is gone. */
async function store(
  { workspace }: FastifyRequest,
  { ruleId, kind, subject }: Subject,
  state: State,
  before: Date | undefined,
  computedAt: Date,
): Promise<void> {
  await workspace.database.$executeRaw(Prisma.sql`
    INSERT INTO rule_differences (rule_id, kind, workspace_id, subject, state, computed_at)
    SELECT id, ${kind}, workspace_id, ${subject}, ${JSON.stringify(state)}::json, ${computedAt}
    FROM rules WHERE id = ${ruleId}::uuid AND workspace_id = ${workspace.id}::uuid
    ON CONFLICT (rule_id, kind) DO UPDATE
    SET subject = excluded.subject, state = excluded.state, computed_at = excluded.computed_at
    WHERE rule_differences.subject <> excluded.subject OR rule_differences.computed_at = ${before ?? null}`)
}
