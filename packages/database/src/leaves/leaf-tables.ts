import type pg from 'pg'
import { firstIdOf, lowestIdLike, timeOf } from '../ids.js'
import type { Leaf } from './plan-leaves.js'

/** What a statement of leaves runs on: a transaction of its own. */
export interface Transaction {
  query<Row extends pg.QueryResultRow>(sql: string, values?: string[]): Promise<{ rows: Row[] }>
}

export interface AttachedLeaf extends Leaf {
  /** With its schema. */
  name: string
}

/** Whether this role may create leaves, attach and detach them. */
export async function mayChangeLeaves(transaction: Transaction): Promise<boolean> {
  const { rows } = await transaction.query<{ may: boolean }>(
    `SELECT pg_has_role(relowner, 'USAGE') AND has_schema_privilege('history', 'CREATE') AS may
     FROM pg_class WHERE oid = 'events'::regclass`,
  )
  return rows[0]?.may === true
}

const boundPattern = /^FOR VALUES FROM \((?:MINVALUE|'(.+)')\) TO \((?:MAXVALUE|'(.+)')\)$/

/** Reads the leaves of a table, in order. */
export async function readLeaves(transaction: Transaction, table: string): Promise<AttachedLeaf[]> {
  const { rows } = await transaction.query<{ name: string; bound: string }>(
    `SELECT 'history.' || relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass`,
    [table],
  )
  const leaves = rows.map(({ name, bound }) => {
    const [, from, to] = boundPattern.exec(bound) ?? []
    return {
      name,
      from: from ? timeOf(from) : Number.NEGATIVE_INFINITY,
      to: to ? timeOf(to) : Number.POSITIVE_INFINITY,
    }
  })
  return leaves.sort((one, other) => one.from - other.from)
}

/** Creates a table that can be attached as a leaf: it has the storage parameters of the others, and their owner, who alone may migrate them. */
export async function createLike(transaction: Transaction, table: string, name: string): Promise<void> {
  const { rows } = await transaction.query<{ owner: string; options: string | null }>(
    `SELECT (SELECT relowner::regrole::text FROM pg_class WHERE oid = $2::regclass) AS owner, string_agg(option, ', ') AS options FROM (
       SELECT unnest(leaf.reloptions) AS option FROM pg_class AS leaf WHERE leaf.oid = $1::regclass
       UNION ALL
       SELECT 'toast.' || unnest(toast.reloptions) FROM pg_class AS leaf JOIN pg_class AS toast ON toast.oid = leaf.reltoastrelid
       WHERE leaf.oid = $1::regclass
     ) AS parameters`,
    [`history.${table}_low`, table],
  )
  const options = rows[0]?.options ? `WITH (${rows[0].options})` : ''
  await transaction.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) ${options}`)
  await transaction.query(`ALTER TABLE ${name} OWNER TO ${rows[0]?.owner}`)
}

export function attachSql(table: string, name: string, leaf: Leaf): string {
  const [from, to] = [boundOf(leaf.from) ?? 'MINVALUE', boundOf(leaf.to) ?? 'MAXVALUE']
  return `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`
}

export function detachSql(table: string, name: string): string {
  return `ALTER TABLE ${table} DETACH PARTITION ${name}`
}

/** The id at which a leaf begins or ends, as Postgres has it. Undefined: it is open. */
export function boundOf(time: number): string | undefined {
  return Number.isFinite(time) ? `'${lowestIdLike(firstIdOf(time))}'` : undefined
}

/** It goes by the index: a leaf that was emptied row by row may still be large. */
export async function isEmpty(transaction: Transaction, name: string): Promise<boolean> {
  return (await readNewest(transaction, name)) === undefined
}

/** The time in the highest id of a leaf; undefined if it is empty. */
export async function readNewest(transaction: Transaction, name: string): Promise<number | undefined> {
  const { rows } = await transaction.query<{ id: string }>(
    `SELECT leaf.id::text AS id FROM ${name} AS leaf ORDER BY leaf.id DESC LIMIT 1`,
  )
  return rows[0] && timeOf(rows[0].id)
}
