import { clockSkewMs, Prisma, postgresNow, type WorkspaceTransaction } from '@automation/database'

/** How many stored executions of each rule are looked at, the oldest: a save must end in time, however long the history is. */
const executionsRead = 100

/**
 * Removes versions of the rules of a workspace, the oldest first, until about `bytes` are free or nothing else may go. It needs the
 * lock of the workspace, so that no retry begins with a version that is being removed.
 *
 * A version stays
 *
 * - while it is the present one, or was superseded less than an hour ago: a worker may be about to record an execution of it;
 * - while a stored execution began with it. Such an execution belongs to an event from before the version was superseded, and its
 *   id contains that time. So of each rule the oldest executions are read, up to that time or up to 100 of them. Where these do not
 *   reach that time, the version stays.
 *
 * @returns how many bytes it has freed
 */
export async function removeExcessVersions(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  bytes: number,
): Promise<number> {
  const [removed] = await transaction.$queryRaw<{ bytes: number }[]>(Prisma.sql`
    WITH all_versions AS (
      SELECT rule_versions.rule_id, rule_versions.version, rule_versions.bytes, rule_versions.created_at,
             lead(rule_versions.created_at) OVER (
               PARTITION BY rule_versions.rule_id ORDER BY rule_versions.version) AS superseded_at
      FROM rule_versions WHERE workspace_id = ${workspaceId}::uuid
    ),
    old_versions AS (
      SELECT *, (lpad(to_hex((extract(epoch FROM superseded_at) * 1000)::bigint + ${clockSkewMs}::bigint), 12, '0')
                 || 'ffffffffffffffffffff')::uuid AS last_id
      FROM all_versions
      WHERE superseded_at < ${new Date(postgresNow() - clockSkewMs)} AND bytes > 0
    ),
    read_executions AS (
      SELECT old_rules.rule_id, array_agg(oldest.rule_version) AS versions,
             CASE WHEN count(*) = ${executionsRead}::int THEN max(oldest.id::text)::uuid END AS reached_id
      FROM (SELECT rule_id, max(last_id::text)::uuid AS last_id FROM old_versions GROUP BY rule_id) AS old_rules
      CROSS JOIN LATERAL (
        SELECT id, rule_version FROM executions
        WHERE executions.handler_id = old_rules.rule_id AND executions.id <= old_rules.last_id
        ORDER BY executions.handler_id, executions.id LIMIT ${executionsRead}::int
      ) AS oldest
      GROUP BY old_rules.rule_id
    ),
    removable_versions AS (
      SELECT old_versions.rule_id, old_versions.version, old_versions.bytes,
             sum(old_versions.bytes) OVER (
               ORDER BY created_at, old_versions.rule_id, version) - old_versions.bytes AS bytes_before
      FROM old_versions
      LEFT JOIN read_executions USING (rule_id)
      WHERE version <> ALL (coalesce(read_executions.versions, '{}'))
        AND (read_executions.reached_id IS NULL OR read_executions.reached_id > last_id)
    ),
    removed_versions AS (
      DELETE FROM rule_versions USING removable_versions AS removable
      WHERE rule_versions.rule_id = removable.rule_id AND rule_versions.version = removable.version
        AND removable.bytes_before < ${bytes}
      RETURNING rule_versions.bytes
    )
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM removed_versions`)
  return removed?.bytes ?? 0
}
