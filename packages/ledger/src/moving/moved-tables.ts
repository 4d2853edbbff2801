import type { Database } from '@automation/database'
import { workspaceTables } from '../removal/workspace-tables.js'

/** A table as the catalogue of Postgres has it. */
export interface MovedTable {
  name: string
  columns: string[]
  /** The columns of its primary key. */
  key: { name: string; type: string }[]
  /** Only retention removes rows of it. */
  isGrowing: boolean
}

/** Their rows are many, and few of them change: they are copied while the workspace works. */
const inPasses = new Set([
  ...workspaceTables.filter(({ isWalked }) => isWalked).map(({ name }) => name),
  'key_claims',
  'idempotency_keys',
])

/** Of these, nothing but retention removes rows, and the target has a retention, too: the last pass does not look for rows that are gone. */
const growing = new Set(['events', 'executions', 'tasks', 'webhook_receipts', 'audit_entries'])

/** Its ids are the order of commits in one installation: the other one gives it ids of its own. */
const numbered = 'event_keys'

/** All that have rows of a workspace, in an order in which no row comes before one that it refers to. */
const inOrder = [...workspaceTables.map(({ name }) => name).reverse(), 'key_claims', numbered, 'rule_crashes']

export interface MovedTables {
  workspaces: MovedTable
  inPasses: MovedTable[]
  /** Copied in the transaction that opens the workspace. */
  atOnce: MovedTable[]
  numbered: MovedTable
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

/** @throws Error if a table has rows of workspaces, and is not in the list */
export async function readMovedTables({ system }: Pick<Database, 'system'>): Promise<MovedTables> {
  const tables = new Map<string, MovedTable>()
  for (const { name, column, type, isKey } of await system.$queryRawUnsafe<Row[]>(readTables)) {
    const table = tables.get(name) ?? { name, columns: [], key: [], isGrowing: growing.has(name) }
    tables.set(name, table)
    table.columns.push(column)
    if (isKey) table.key.push({ name: column, type })
  }
  const find = (name: string) => {
    const table = tables.get(name)
    if (table === undefined) throw new Error(`The database has no table ${name}`)
    return table
  }
  const others = [...tables.keys()].filter((name) => name !== 'workspaces' && !inOrder.includes(name))
  if (others.length > 0) throw new Error(`A move would leave out ${others.join(', ')}`)
  return {
    workspaces: find('workspaces'),
    inPasses: inOrder.filter((name) => inPasses.has(name)).map(find),
    atOnce: inOrder.filter((name) => !inPasses.has(name) && name !== numbered).map(find),
    numbered: find(numbered),
  }
}
