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
} from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import type { History } from './histories.js'

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

/** Creates the new leaves, and attaches none. The functions of the triggers run as their owner: who writes rows has no rights in this schema. */
export async function createNewLeaves(
  transaction: Transaction,
  history: History,
  range: Leaf,
): Promise<void> {
  for (const { name, owner } of history.tables) {
    await createLike(clientOf(transaction), name, newLeafOf(name))
    await prove(clientOf(transaction), newLeafOf(name), range)
    await transaction.$executeRawUnsafe(`
      CREATE OR REPLACE FUNCTION history.note_${name}() RETURNS trigger LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog AS $$
      BEGIN
        INSERT INTO history.changes (name, id) VALUES ('${history.name}', coalesce(NEW.${owner}, OLD.${owner}));
        RETURN NULL;
      END $$`)
  }
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
export async function watch(transaction: Transaction, table: string, leaf: string): Promise<void> {
  await transaction.$executeRawUnsafe(`
    CREATE TRIGGER ${trigger} AFTER INSERT OR UPDATE OR DELETE ON ${leaf}
    FOR EACH ROW EXECUTE FUNCTION history.note_${table}()`)
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

/** Drops one leaf that was replaced (`_old`), or was never attached (`_new`). @returns false if there is none */
export async function dropOne(
  transaction: Transaction,
  table: string,
  kind: 'old' | 'new',
): Promise<boolean> {
  const [found] = await transaction.$queryRaw<{ name: string }[]>(Prisma.sql`
    SELECT relname::text AS name FROM pg_class
    WHERE relnamespace = 'history'::regnamespace AND relkind = 'r' AND NOT relispartition
      AND relname ~ ${`^${table}_[a-z0-9]+_${kind}$`}
    LIMIT 1`)
  if (found === undefined) return false
  await transaction.$executeRawUnsafe(`DROP TABLE history.${found.name}`)
  return true
}
