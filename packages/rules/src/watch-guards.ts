import { Refused, type ServiceEvent } from '@automation/access'
import { type Database, postgresNow, type WorkspaceTransaction } from '@automation/database'
import { countRuns } from '@automation/history'
import { inTurns, isSuspendedSql } from '@automation/ledger'
import { changeRules } from './change-rules.js'
import { maxRunsPerHour } from './guards.js'
import { definitionOf, type StoredRule } from './rule-fields.js'
import { saveRules } from './save-rules.js'

/** A guard that this process has claimed, with the present version of its rule. */
export interface ClaimedGuard {
  ruleId: string
  workspaceId: string
  /** Of the workspace. */
  createdBy: string | null
  version: number
  previousVersion: number
  maxRunsPerHour: number | null
  maxFailureRate: number | null
  startedAt: Date
  /** The time of the oldest id that a run of the last hour may have, where there was a backlog. */
  countedFrom: Date | null
  isOver: boolean
  /** Its workspace is: nothing is restored there. */
  isSuspended: boolean
}

/** The limit that was crossed, as the audit log has it. */
export type Crossing =
  | { reason: 'runs'; runs: number; maxRunsPerHour: number }
  | { reason: 'failures'; failed: number; finished: number; maxFailureRate: number }

/** Fewer say nothing: as for the attention list. */
const fewestFinished = 5
const fewestCounted = 10_000
/** The next check tries again in a second. */
const lockMs = 300

const dueBefore = `now() - interval '900 milliseconds'`
const isDue = `tripped_at IS NULL AND checked_at <= ${dueBefore}`

const areDue = `SELECT FROM rule_guards WHERE ${isDue} LIMIT 1`

/** Whether there are guards to be claimed: nearly always there is none. */
export async function areGuardsDue(database: Database): Promise<boolean> {
  return (await database.run('find_due_guards', areDue, [])).length > 0
}

/**
 * In turns of the owners. One row each second and guard: several workers share the guards, and one that ends holds none of them. Each claim notes the oldest event that is
 * not done, in windows of an hour: the present one and the one before are at least as long as the hour that is counted.
 *
 * $1 limit · $2 time of the oldest id that is not done; null: none, or not known
 */
const claimDue = `
  WITH ${inTurns({
    table: 'rule_guards',
    key: 'rule_id',
    order: 'checked_at',
    ...{ from: `'-infinity'`, to: dueBefore },
    where: 'tripped_at IS NULL',
    limit: '$1::int',
  })},
  due_guards AS (
    SELECT rule_id FROM rule_guards
    WHERE rule_id = ANY (ARRAY(SELECT id FROM due_rows)) AND ${isDue}
    ORDER BY rule_id FOR UPDATE SKIP LOCKED
  )
  UPDATE rule_guards
  SET checked_at = now(),
      oldest_before = CASE WHEN window_at < now() - interval '1 hour' THEN oldest_at ELSE oldest_before END,
      oldest_at = CASE WHEN window_at < now() - interval '1 hour' THEN $2::timestamptz
                       ELSE least(oldest_at, $2::timestamptz) END,
      window_at = CASE WHEN window_at < now() - interval '1 hour' THEN now() ELSE window_at END
  FROM due_guards WHERE rule_guards.rule_id = due_guards.rule_id
  RETURNING rule_guards.rule_id AS "ruleId", workspace_id AS "workspaceId", version,
            (SELECT created_by FROM workspaces WHERE workspaces.id = workspace_id) AS "createdBy",
            EXISTS (SELECT FROM workspaces WHERE workspaces.id = workspace_id AND ${isSuspendedSql}) AS "isSuspended", previous_version AS "previousVersion", max_runs_per_hour AS "maxRunsPerHour",
            max_failure_rate AS "maxFailureRate", started_at AS "startedAt",
            least(oldest_at, oldest_before) AS "countedFrom", ends_at <= now() AS "isOver"`

/**
 * Claims guards whose last check was a second ago.
 *
 * @param oldestUndone the time of the oldest id among the events that are not done, where there is one
 */
export function claimGuards(
  database: Database,
  limit: number,
  oldestUndone: Date | null = null,
): Promise<ClaimedGuard[]> {
  return database.run<ClaimedGuard>('claim_guards', claimDue, [limit, oldestUndone])
}

/**
 * Checks a guard:
 *
 *   watching ─▶ a limit is crossed: the previous version is restored, once ─▶ tripped, until somebody changes or activates the rule
 *      ├─▶ its time is over: removed
 *      └─▶ the rule is changed, not only moved within its group: removed, in the same commit (saveRules)
 *
 * @returns the limit that was crossed, if this call has restored the previous version
 * @throws an error that isWorkspaceBusy knows, where another change of the workspace takes longer than a moment
 */
export async function checkGuard(
  database: Database,
  guard: ClaimedGuard,
  publish: (events: ServiceEvent[]) => void = () => {},
): Promise<Crossing | undefined> {
  const crossing = guard.isSuspended ? undefined : await findCrossing(database, guard)
  if (crossing !== undefined)
    return (await rollBack(database, guard, crossing, publish)) ? crossing : undefined
  if (guard.isOver) await removeGuard(database.forWorkspace(guard.workspaceId), guard)
  return undefined
}

async function findCrossing(database: Database, guard: ClaimedGuard): Promise<Crossing | undefined> {
  const limit = Math.max(Math.min(guard.maxRunsPerHour ?? 0, maxRunsPerHour) + 1, fewestCounted)
  const { runs, finished, failed } = await countRuns(database, guard, limit)
  if (guard.maxRunsPerHour !== null && runs > guard.maxRunsPerHour)
    return { reason: 'runs', runs, maxRunsPerHour: guard.maxRunsPerHour }
  if (guard.maxFailureRate === null || finished < fewestFinished) return undefined
  return failed / finished > guard.maxFailureRate
    ? { reason: 'failures', failed, finished, maxFailureRate: guard.maxFailureRate }
    : undefined
}

/**
 * Restores the previous version, in one transaction with the guard's own end: killed before its commit, it did nothing, and the next check does
 * it. Where that version cannot be saved any more (it is gone, its event type is deleted, or the workspace is full), the rule is switched off
 * instead.
 *
 * @returns whether this call did it
 */
async function rollBack(
  database: Database,
  guard: ClaimedGuard,
  crossing: Crossing,
  publish: (events: ServiceEvent[]) => void,
): Promise<boolean> {
  const administrator = { database, workspaceId: guard.workspaceId, actor: 'system:guard', publish, lockMs }
  const attempt = (way: 'restore' | 'switch off') =>
    changeRules<boolean>(administrator, async (transaction) => {
      const rule = await findWatched(transaction, guard)
      if (rule === undefined) return { result: false, entry: undefined }
      const fields = way === 'restore' ? await readPrevious(transaction, guard, rule) : { isActive: false }
      const [saved] = await saveRules(transaction, administrator, [{ found: rule, fields }])
      const { version = rule.version } = saved?.rule ?? {}
      await markTripped(transaction, guard, crossing, version)
      const details = { from: guard.version, to: fieldsTo(way, guard), version, ...crossing }
      return { result: true, entry: { action: 'rule.rolled_back', subject: guard.ruleId, details } }
    })
  try {
    return await attempt('restore')
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return attempt('switch off')
  }
}

/** null: the rule was switched off instead. */
function fieldsTo(way: 'restore' | 'switch off', guard: ClaimedGuard): number | null {
  return way === 'restore' ? guard.previousVersion : null
}

/** The rule, where the guard still watches it. The lock of the workspace is held, so that this stays so. */
async function findWatched(transaction: WorkspaceTransaction, guard: ClaimedGuard) {
  const { ruleId, version } = guard
  const row = await transaction.ruleGuard.findFirst({ where: { ruleId, version, trippedAt: null } })
  if (row === null) return undefined
  return transaction.rule.findUniqueOrThrow({ where: { id: ruleId } })
}

/** With the present place of a rule that was moved while it was watched. */
async function readPrevious(
  transaction: WorkspaceTransaction,
  { ruleId, previousVersion: version, version: watched }: ClaimedGuard,
  rule: Pick<StoredRule, 'version' | 'group' | 'order'>,
) {
  const row = await transaction.ruleVersion.findUnique({ where: { ruleId_version: { ruleId, version } } })
  if (row === null) throw new Refused('changed_meanwhile', 'The previous version was removed')
  const definition = definitionOf(row)
  const isMoved = rule.version !== watched && rule.group === definition.group
  return isMoved ? { ...definition, order: rule.order } : definition
}

/** saveRules has ended the guard, where it made a version. */
async function markTripped(
  transaction: WorkspaceTransaction,
  {
    ruleId,
    workspaceId,
    createdBy: _,
    isOver: __,
    countedFrom: ___,
    isSuspended: ____,
    ...guard
  }: ClaimedGuard,
  { reason }: Crossing,
  restoredVersion: number,
): Promise<void> {
  const trippedAt = new Date(postgresNow())
  const tripped = { trippedAt, tripReason: reason, restoredVersion }
  await transaction.ruleGuard.upsert({
    where: { ruleId },
    create: { ruleId, workspaceId, ...guard, endsAt: trippedAt, ...tripped },
    update: tripped,
  })
}

/** Unless another one has replaced it. */
async function removeGuard(
  { ruleGuard }: Pick<WorkspaceTransaction, 'ruleGuard'>,
  { ruleId, version }: ClaimedGuard,
): Promise<void> {
  await ruleGuard.deleteMany({ where: { ruleId, version, trippedAt: null } })
}
