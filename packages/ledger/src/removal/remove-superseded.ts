import { clockSkewMs, Prisma } from '@automation/database'
import type { Removal } from './removal.js'

/** Rows that explain events from before a moment. */
interface Explanations {
  table: Prisma.Sql
  /** The primary key, and its types. It begins with the workspace. */
  key: [column: string, type: 'uuid' | 'int'][]
  /** The moment; null where it has not come. Over a slice of the table, in the order of the key. */
  endedAt: Prisma.Sql
}

/** What rules were: until their next row, or until they were deleted. */
export const ruleStates: Explanations = {
  table: Prisma.sql`rule_states`,
  key: [
    ['workspace_id', 'uuid'],
    ['rule_id', 'uuid'],
    ['rules_version', 'int'],
  ],
  endedAt: Prisma.sql`
    CASE WHEN is_deleted THEN at ELSE lead(at) OVER (PARTITION BY workspace_id, rule_id ORDER BY rules_version) END`,
}

/** Versions of deleted rules: until the deletion. */
export const deletedVersions: Explanations = {
  table: Prisma.sql`deleted_rule_versions`,
  key: [
    ['workspace_id', 'uuid'],
    ['rule_id', 'uuid'],
    ['version', 'int'],
  ],
  endedAt: Prisma.sql`deleted_at`,
}

/**
 * Removes rows that no stored event needs any more: those that ended longer ago than their workspace keeps history, and before all of its
 * events; and those of workspaces that are gone. Each call reads the next `size` rows by their primary key, so a round reads each row once.
 *
 * @param now epoch ms
 * @param age of a workspace's history in ms, by the columns of `workspaces`; null: for ever
 */
export function createSupersededRemoval(
  { table, key, endedAt }: Explanations,
  now: number,
  age: Prisma.Sql,
): Removal {
  const columns = Prisma.raw(key.map(([column]) => column).join(', '))
  const texts = Prisma.raw(key.map(([column]) => `${column}::text`).join(', '))
  const isRemoved = Prisma.raw(key.map(([column]) => `stored.${column} = unneeded.${column}`).join(' AND '))
  let after: string[] | undefined
  return async (transaction, size) => {
    const values = after?.map(
      (value, index) => Prisma.sql`${value}::text::${Prisma.raw(key[index]?.[1] ?? '')}`,
    )
    const isBehind =
      values === undefined ? Prisma.sql`true` : Prisma.sql`(${columns}) > (${Prisma.join(values)})`
    // One row more than are removed: it may end the last of them.
    const [slice] = await transaction.$queryRaw<{ removed: number; last: string[] | null }[]>(Prisma.sql`
      WITH slice AS (SELECT * FROM ${table} WHERE ${isBehind} ORDER BY ${columns} LIMIT ${size + 1}),
      ended AS (
        SELECT ${columns}, extract(epoch FROM ${endedAt}) * 1000 AS ms, row_number() OVER (ORDER BY ${columns}) AS position
        FROM slice
      ),
      unneeded AS (
        SELECT ended.* FROM ended LEFT JOIN workspaces ON workspaces.id = ended.workspace_id
        WHERE position <= ${size} AND (
          workspaces.id IS NULL
          OR ended.ms < ${now - clockSkewMs}::bigint - ${age} AND NOT EXISTS (
            SELECT FROM events
            WHERE events.workspace_id = ended.workspace_id
              AND events.id < (lpad(to_hex((ended.ms + ${clockSkewMs}::bigint)::bigint), 12, '0') || 'ffffffffffffffffffff')::uuid))
      ),
      removed AS (
        DELETE FROM ${table} AS stored USING unneeded WHERE ${isRemoved} RETURNING 1
      )
      SELECT (SELECT count(*) FROM removed)::int AS removed,
             (SELECT ARRAY[${texts}] FROM ended
              WHERE position = ${size} AND EXISTS (SELECT FROM ended WHERE position > ${size})) AS last`)
    after = slice?.last ?? undefined
    return { removed: slice?.removed ?? 0, isOver: after === undefined }
  }
}
