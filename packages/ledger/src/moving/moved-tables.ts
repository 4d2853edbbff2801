import type { Database } from '@automation/database'
import { workspaceTables } from '../removal/workspace-tables.js'

/** A table as the catalogue of Postgres has it. */
export interface MovedTable {
  name: string
  columns: string[]
  /** The columns by which a row is known in both installations. */
  key: { name: string; type: string }[]
}

/**
 * Their rows are many: they are copied while the workspace works. In this order the retention of the target takes none of them: claims keep executions, and
 * these keep their events and tasks.
 */
const inPasses = [
  'key_claims',
  'executions',
  'events',
  'event_keys',
  'tasks',
  'webhook_receipts',
  'webhook_rejections',
  'audit_entries',
  'idempotency_keys',
]

/** All others that have rows of a workspace, in an order in which no row comes before one that it refers to. */
const atOnce = [
  ...workspaceTables
    .map(({ name }) => name)
    .filter((name) => !inPasses.includes(name))
    .reverse(),
  'rule_crashes',
]

/** `event_keys.id` is the order of commits in one installation: in the other one a row has another. */
const keys = new Map([['event_keys', ['event_id', 'key']]])

export interface MovedTables {
  workspaces: MovedTable
  inPasses: MovedTable[]
  /** Copied in the transaction that opens the workspace. */
  atOnce: MovedTable[]
}

interface Row {
  name: string
  column: string
  type: string
  isKey: boolean
}

const readTables = `
  SELECT tables.relname::text AS name, columns.attname::text AS column, format_type(columns.atttypid, NULL) AS type,
         columns.attnum = ANY (keys.indkey::smallint[]) AS "isKey"
  FROM pg_class AS tables
  JOIN pg_attribute AS columns ON columns.attrelid = tables.oid AND columns.attnum > 0 AND NOT columns.attisdropped
  JOIN pg_index AS keys ON keys.indrelid = tables.oid AND keys.indisprimary
  WHERE tables.relkind IN ('r', 'p') AND NOT tables.relispartition AND pg_table_is_visible(tables.oid)
    AND (tables.oid = 'workspaces'::regclass
      OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = tables.oid AND attname = 'workspace_id' AND NOT attisdropped))
  ORDER BY tables.relname, columns.attnum`

/** @throws Error if a table has rows of workspaces, and is not in the lists */
export async function readMovedTables({ system }: Pick<Database, 'system'>): Promise<MovedTables> {
  const tables = new Map<string, MovedTable>()
  for (const { name, column, type, isKey } of await system.$queryRawUnsafe<Row[]>(readTables)) {
    const table = tables.get(name) ?? { name, columns: [], key: [] }
    tables.set(name, table)
    table.columns.push(column)
    if (keys.get(name)?.includes(column) ?? isKey) table.key.push({ name: column, type })
  }
  const find = (name: string) => {
    const table = tables.get(name)
    if (table === undefined) throw new Error(`The database has no table ${name}`)
    return table
  }
  const known = new Set(['workspaces', ...inPasses, ...atOnce])
  const others = [...tables.keys()].filter((name) => !known.has(name))
  if (others.length > 0) throw new Error(`A move would leave out ${others.join(', ')}`)
  return { workspaces: find('workspaces'), inPasses: inPasses.map(find), atOnce: atOnce.map(find) }
}
