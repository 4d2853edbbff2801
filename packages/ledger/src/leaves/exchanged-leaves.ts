import {
  attachAnewSql,
  createLike,
  detachSql,
  type Leaf,
  type LeafTransaction,
  leafNameOf,
  Prisma,
  prove,
  readLeaves,
  withLock,
} from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import type { History, HistoryTable } from './histories.js'

/** The trigger that notes which rows of a leaf change. */
const trigger = 'leaf_is_exchanged'

export interface OldLeaf {
  /** With its schema. */
  name: string
  isWatched: boolean
}

/** What comes in the place of the old leaves. */
export function newLeafOf(table: string): string {
  return `history.${table}_exchanged_new`
}

/** What the functions of leaves run on. Several statements in one message have no rows. */
export function clientOf(
  transaction: Pick<Transaction, '$queryRawUnsafe' | '$executeRawUnsafe'>,
): LeafTransaction {
  return {
    async query(sql, values = []) {
      if (sql.startsWith('SELECT')) return { rows: await transaction.$queryRawUnsafe(sql, ...values) }
      await transaction.$executeRawUnsafe(sql, ...values)
      return { rows: [] }
    },
  }
}

/** Creates the new leaves, and attaches none. */
export async function createNewLeaves(
  transaction: Transaction,
  { tables }: History,
  range: Leaf,
): Promise<void> {
  for (const { name } of tables) {
    await createLike(clientOf(transaction), name, newLeafOf(name))
    await prove(clientOf(transaction), newLeafOf(name), range)
  }
}

/** False if a migration has changed a table since: it would take all of a new leaf under the lock to follow. */
export async function areNewLeavesAlike(transaction: Transaction, { tables }: History): Promise<boolean> {
  const names = tables.map(({ name }) => name)
  const news = names.map(newLeafOf)
  const [row] = await transaction.$queryRaw<{ areAlike: boolean }[]>(Prisma.sql`
    SELECT bool_and(${indexesOf('name')} = ${indexesOf('new')} AND ${columnsOf('name')} = ${columnsOf('new')}) AS "areAlike"
    FROM unnest(${names}::text[], ${news}::text[]) AS tables (name, new)`)
  return row?.areAlike === true
}

/** What they index: each has a name of its own. */
function indexesOf(table: string): Prisma.Sql {
  return Prisma.sql`ARRAY(
    SELECT indisunique::text || substring(pg_get_indexdef(indexrelid) FROM ' USING .*') FROM pg_index
    WHERE indrelid = ${Prisma.raw(table)}::regclass ORDER BY 1)`
}

/** In the order in which rows are copied. */
function columnsOf(table: string): Prisma.Sql {
  return Prisma.sql`ARRAY(
    SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = ${Prisma.raw(table)}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum)`
}

/** The leaves of a table that an exchange replaces, in order. */
export async function oldLeaves(
  transaction: Transaction,
  table: string,
  { from, to }: Leaf,
): Promise<OldLeaf[]> {
  const leaves = (await readLeaves(clientOf(transaction), table)).filter(
    (leaf) => leaf.from >= from && leaf.to <= to,
  )
  const watched = await transaction.$queryRaw<{ name: string }[]>(Prisma.sql`
    SELECT 'history.' || relname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE tgname = ${trigger} AND relnamespace = 'history'::regnamespace`)
  return leaves.map(({ name }) => ({ name, isWatched: watched.some((one) => one.name === name) }))
}

/** From then on each change of a row of the leaf is noted. It needs a lock that waits for all who have written and holds up who wants to. */
export async function watch(
  transaction: Transaction,
  { name }: History,
  { owner }: HistoryTable,
  leaf: string,
): Promise<void> {
  await transaction.$executeRawUnsafe(`
    CREATE TRIGGER ${trigger} AFTER INSERT OR UPDATE OR DELETE ON ${leaf}
    FOR EACH ROW EXECUTE FUNCTION history.note_change('${name}', '${owner}')`)
}

export async function unwatch(transaction: Transaction, leaf: string): Promise<void> {
  await transaction.$executeRawUnsafe(`DROP TRIGGER ${trigger} ON ${leaf}`)
}

/** Detaches the old leaves and attaches the new ones under their names. Its locks are in the order in which readers lock tables. */
export async function planSwap(
  transaction: Transaction,
  { tables }: History,
  range: Leaf,
): Promise<{ locks: string[]; sql: string }> {
  const locks = tables.map(({ name }) => `ONLY ${name}`)
  const statements: string[] = []
  for (const { name: table } of tables) {
    const old = (await oldLeaves(transaction, table, range)).map(({ name }) => name)
    const leaf = leafNameOf(table, range)
    locks.push(...old, newLeafOf(table))
    for (const name of old)
      statements.push(
        detachSql(table, name),
        `ALTER TABLE ${name} RENAME TO ${name.replace('history.', '')}_old`,
      )
    statements.push(
      `ALTER TABLE ${newLeafOf(table)} RENAME TO ${leaf}`,
      attachAnewSql(table, `history.${leaf}`, range),
    )
  }
  return { locks, sql: statements.join('; ') }
}

/** Drops one leaf that was replaced (`_old`), or was never attached (`_new`). A backup may read it. */
export async function dropOne(
  transaction: Transaction,
  { tables }: History,
  kind: 'old' | 'new',
): Promise<'dropped' | 'waits' | 'none'> {
  const names = tables.map(({ name }) => name).join('|')
  const [found] = await transaction.$queryRaw<{ name: string }[]>(Prisma.sql`
    SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = 'history'::regnamespace AND relkind = 'r' AND NOT relispartition
      AND relname ~ ${`^(${names})_[a-z0-9]+_${kind}$`}
    ORDER BY relname LIMIT 1`)
  if (found === undefined) return 'none'
  const leaf = `history.${found.name}`
  const client = clientOf(transaction)
  return (await withLock(client, [leaf], () => client.query(`DROP TABLE ${leaf}`))) ? 'dropped' : 'waits'
}
