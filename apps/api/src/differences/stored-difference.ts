import type { BacktestReport, BacktestSubject, SavedBacktest } from '@automation/backtest'
import { Prisma, type WorkspaceDatabase } from '@automation/database'

/** What is compared, and since when. */
export interface Subject extends Required<Pick<BacktestSubject, 'ruleId' | 'draft'>> {
  kind: 'draft' | 'shadow'
  /** Another one begins again. */
  name: string
  since: Date
  active: BacktestSubject['active'] | undefined
}

/** How far a difference is computed. Times are epoch ms. */
export interface State {
  /** Events accepted before then are in it. */
  from: number
  /** The part that is being read ends before then; equal to `from` where it is over. */
  to: number
  /** The last id of that part that is in it. */
  after: string | null
  saved?: SavedBacktest
  /** Events that are in it, and not yet in the counts of `saved`: their response failed. */
  uncounted?: number
}

/** Of a workspace. The one that was computed longest ago is removed, and begins again when somebody asks. */
const maxStored = 100

export function isOver({ from, to }: State): boolean {
  return from === to
}

/** @returns undefined where nothing is stored; without a report where there is more to read first */
export async function readReport(
  database: WorkspaceDatabase,
  { ruleId, kind, name }: Subject,
): Promise<{ report: BacktestReport | null; computedAt: Date } | undefined> {
  const row = await database.ruleDifference.findFirst({
    where: { ruleId, kind, subject: name },
    select: { report: true, computedAt: true },
  })
  return row === null ? undefined : { ...row, report: row.report as BacktestReport | null }
}

/** The state is large: it is read only to be continued. */
export async function readState(
  database: WorkspaceDatabase,
  { ruleId, kind, name }: Subject,
): Promise<{ state: State; computedAt: Date } | undefined> {
  const row = await database.ruleDifference.findFirst({
    where: { ruleId, kind, subject: name },
    select: { state: true, computedAt: true },
  })
  return row === null ? undefined : { ...row, state: row.state as unknown as State }
}

/**
 * Stores how far a difference came, unless somebody else has continued it meanwhile, or what it is about is gone: the lock on the row of the draft
 * or the shadow makes its end wait, and that removes the difference.
 */
export async function storeDifference(
  { id: workspaceId, database }: { id: string; database: WorkspaceDatabase },
  { ruleId, kind, name, since }: Subject,
  difference: {
    state: State
    report: BacktestReport | undefined
    computedAt: Date
    before: Date | undefined
  },
): Promise<void> {
  const { state, report, computedAt, before } = difference
  const shown = isOver(state) && report !== undefined ? JSON.stringify(report) : null
  const found =
    kind === 'draft'
      ? Prisma.sql`SELECT rule_id FROM rule_drafts
          WHERE rule_id = ${ruleId}::uuid AND workspace_id = ${workspaceId}::uuid AND id = ${name}::uuid FOR SHARE`
      : Prisma.sql`SELECT id AS rule_id FROM rules
          WHERE id = ${ruleId}::uuid AND workspace_id = ${workspaceId}::uuid AND mode = 'shadow' AND NOT is_active
            AND updated_at = ${since} FOR SHARE`
  const stored = await database.$executeRaw(Prisma.sql`
    WITH found AS (${found})
    INSERT INTO rule_differences (rule_id, kind, workspace_id, subject, state, report, computed_at)
    SELECT rule_id, ${kind}, ${workspaceId}::uuid, ${name}, ${JSON.stringify(state)}::json, ${shown}::json, ${computedAt}
    FROM found
    ON CONFLICT (rule_id, kind) DO UPDATE
    SET subject = excluded.subject, state = excluded.state, report = excluded.report, computed_at = excluded.computed_at
    WHERE rule_differences.subject <> excluded.subject OR rule_differences.computed_at = ${before ?? null}`)
  if (stored > 0) await removeExcess(database, workspaceId)
}

async function removeExcess(database: WorkspaceDatabase, workspaceId: string): Promise<void> {
  await database.$executeRaw(Prisma.sql`
    DELETE FROM rule_differences USING (
      SELECT rule_id, kind FROM rule_differences WHERE workspace_id = ${workspaceId}::uuid
      ORDER BY computed_at DESC, rule_id, kind OFFSET ${maxStored}::int
    ) AS excess
    WHERE rule_differences.workspace_id = ${workspaceId}::uuid
      AND rule_differences.rule_id = excess.rule_id AND rule_differences.kind = excess.kind`)
}
