import { Prisma } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import { boundOf } from './bound-of.js'
import { type Exchange, noteWrite } from './exchange-row.js'
import { copyRows, inScope, takeBack } from './exchanged-rows.js'
import { executions } from './histories.js'
import { exchangedOf } from './slices.js'

/** Copies rows again that have changed, and what belongs to them. @returns how many changes it has made good; `size` if there are more */
export async function catchUp(transaction: Transaction, exchange: Exchange, size: number): Promise<number> {
  const { history } = exchange
  const changes = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    DELETE FROM history.changes WHERE name = ${history.name} AND seq = ANY (ARRAY(
      SELECT seq FROM history.changes WHERE name = ${history.name} ORDER BY seq LIMIT ${size}))
    RETURNING id::text`)
  if (changes.length === 0) return 0
  const owners = await withBatches(transaction, exchange, [...new Set(changes.map(({ id }) => id))])
  const exchanged = exchangedOf(exchange, { from: boundOf(exchange.from), to: boundOf(exchange.to), owners })
  await takeBack(transaction, exchanged)
  await copyRows(transaction, exchanged)
  await noteWrite(transaction, exchange)
  return changes.length
}

/** Under the locks: whether a row has changed since it was copied, or a workspace keeps more. */
export async function hasChanged(transaction: Transaction, exchange: Exchange): Promise<boolean> {
  const { history, keptDays } = exchange
  const changed = await transaction.$queryRaw<object[]>(Prisma.sql`
    (SELECT 1 FROM history.changes WHERE name = ${history.name} LIMIT 1)
    UNION ALL
    (SELECT 1 FROM workspaces WHERE ${history.isKeyed} AND retention_days > ${keptDays}::int
       AND id NOT IN (SELECT workspace_id FROM history.kept_workspaces WHERE name = ${history.name}) LIMIT 1)`)
  return changed.length > 0
}

/** A batch that is opened again keeps the events that it has collected. */
async function withBatches(
  transaction: Transaction,
  exchange: Exchange,
  owners: string[],
): Promise<string[]> {
  const { history } = exchange
  if (!history.isKeyed) return owners
  const scope = { from: boundOf(exchange.from), to: boundOf(exchange.to), owners }
  const collected = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT DISTINCT key_claims.event_id::text AS id
    FROM executions JOIN key_claims ON key_claims.batch_id = executions.id
    WHERE ${inScope(history, executions, scope)}`)
  return [...new Set([...owners, ...collected.map(({ id }) => id)])]
}

/** A transaction that sees rows as they were before the copies were written: its process; those of Postgres itself, which read no rows, have no user. In a database that was restored no transaction is that old. */
export async function findOldSnapshot(
  transaction: Transaction,
  { writtenBy }: Exchange,
): Promise<number | undefined> {
  if (writtenBy === null) return undefined
  const [row] = await transaction.$queryRaw<{ pid: number }[]>(Prisma.sql`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
      AND ${writtenBy}::bigint < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      AND age(backend_xmin) >= age((${writtenBy}::bigint % 4294967296)::text::xid)
    ORDER BY xact_start LIMIT 1`)
  return row?.pid
}
