import { Prisma } from '@automation/database'
import type { Transaction } from '../removal/removal.js'
import type { History } from './histories.js'
import { type Leaf, leafNameOf, leavesOf, type Plan } from './plan-exchange.js'
import { boundOf, readLeaves } from './read-leaves.js'

/** The trigger that notes which rows of a leaf change. */
const trigger = 'leaf_is_exchanged'
const check = 'leaf_range'

export interface OldLeaf {
  name: string
  isWatched: boolean
}

export function newLeafOf(table: string, leaf: Leaf): string {
  return `history.${leafNameOf(table, leaf)}_new`
}

/** Creates the leaves of a plan, and attaches none. They have the storage parameters of what they replace. The functions of the triggers run as their owner: who writes rows has no rights in this schema. */
export async function createLeaves(transaction: Transaction, history: History, plan: Plan): Promise<void> {
  for (const { name, owner } of history.tables) {
    const options = await readOptions(transaction, name, plan)
    for (const leaf of leavesOf(plan))
      await transaction.$executeRawUnsafe(`
        CREATE TABLE ${newLeafOf(name, leaf)} (LIKE ${name} INCLUDING ALL, CONSTRAINT ${check} CHECK (${rangeOf(leaf)})) ${options}`)
    await transaction.$executeRawUnsafe(`
      CREATE OR REPLACE FUNCTION history.note_${name}() RETURNS trigger LANGUAGE plpgsql
      SECURITY DEFINER SET search_path = pg_catalog AS $$
      BEGIN
        INSERT INTO history.changes (name, id) VALUES ('${history.name}', coalesce(NEW.${owner}, OLD.${owner}));
        RETURN NULL;
      END $$`)
  }
}

/** As the bounds of the leaf, so that Postgres attaches it without reading it. */
function rangeOf({ from, to }: Leaf): string {
  const ends = []
  if (from !== Number.NEGATIVE_INFINITY) ends.push(`id >= '${boundOf(from)}'`)
  if (to !== Number.POSITIVE_INFINITY) ends.push(`id < '${boundOf(to)}'`)
  return ends.join(' AND ')
}

async function readOptions(transaction: Transaction, table: string, plan: Plan): Promise<string> {
  const [replaced] = await oldLeaves(transaction, table, plan)
  const [row] = await transaction.$queryRaw<{ options: string | null }[]>(Prisma.sql`
    SELECT (SELECT string_agg(option, ', ') FROM (
              SELECT unnest(leaf.reloptions) AS option UNION ALL SELECT 'toast.' || unnest(toast.reloptions)) AS options) AS options
    FROM pg_class AS leaf LEFT JOIN pg_class AS toast ON toast.oid = leaf.reltoastrelid
    WHERE leaf.oid = to_regclass(${`history.${replaced?.name}`})`)
  return row?.options ? `WITH (${row.options})` : ''
}

/** The leaves of a table that an exchange replaces, in order. */
export async function oldLeaves(
  transaction: Transaction,
  table: string,
  { from, to }: Leaf,
): Promise<OldLeaf[]> {
  const leaves = (await readLeaves(transaction, table)).filter((leaf) => leaf.from >= from && leaf.to <= to)
  const watched = await transaction.$queryRaw<{ name: string }[]>(Prisma.sql`
    SELECT relname::text AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE tgname = ${trigger} AND relnamespace = 'history'::regnamespace`)
  return leaves.map(({ name }) => ({ name, isWatched: watched.some((one) => one.name === name) }))
}

/** From then on each change of a row of the leaf is noted. It needs a lock that waits for all who have written and holds up who wants to. */
export async function watch(transaction: Transaction, table: string, leaf: string): Promise<void> {
  await transaction.$executeRawUnsafe(`
    CREATE TRIGGER ${trigger} AFTER INSERT OR UPDATE OR DELETE ON history.${leaf}
    FOR EACH ROW EXECUTE FUNCTION history.note_${table}()`)
}

export async function unwatch(transaction: Transaction, leaf: string): Promise<void> {
  await transaction.$executeRawUnsafe(`DROP TRIGGER ${trigger} ON history.${leaf}`)
}

/** All that `swapLeaves` locks, in the order in which readers lock tables. */
export async function namesToLock(
  transaction: Transaction,
  history: History,
  plan: Omit<Plan, 'removes'>,
): Promise<string[]> {
  const names = history.tables.map(({ name }) => `ONLY ${name}`)
  for (const { name } of history.tables) {
    const old = await oldLeaves(transaction, name, plan)
    names.push(
      ...old.map((leaf) => `history.${leaf.name}`),
      ...leavesOf(plan).map((leaf) => newLeafOf(name, leaf)),
    )
  }
  return names
}

/** Detaches the old leaves and attaches the new ones under their names. */
export async function swapLeaves(
  transaction: Transaction,
  history: History,
  plan: Omit<Plan, 'removes'>,
): Promise<void> {
  for (const { name: table } of history.tables) {
    for (const { name } of await oldLeaves(transaction, table, plan)) {
      await transaction.$executeRawUnsafe(`ALTER TABLE ${table} DETACH PARTITION history.${name}`)
      await transaction.$executeRawUnsafe(`ALTER TABLE history.${name} RENAME TO ${name}_old`)
    }
    for (const leaf of leavesOf(plan)) {
      const name = leafNameOf(table, leaf)
      await transaction.$executeRawUnsafe(`ALTER TABLE ${newLeafOf(table, leaf)} RENAME TO ${name}`)
      await transaction.$executeRawUnsafe(
        `ALTER TABLE ${table} ATTACH PARTITION history.${name} FOR VALUES ${boundsOf(leaf)}`,
      )
      await transaction.$executeRawUnsafe(`ALTER TABLE history.${name} DROP CONSTRAINT ${check}`)
    }
  }
}

function boundsOf({ from, to }: Leaf): string {
  const first = from === Number.NEGATIVE_INFINITY ? 'MINVALUE' : `'${boundOf(from)}'`
  const last = to === Number.POSITIVE_INFINITY ? 'MAXVALUE' : `'${boundOf(to)}'`
  return `FROM (${first}) TO (${last})`
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
