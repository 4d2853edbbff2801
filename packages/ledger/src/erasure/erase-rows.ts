import { Prisma } from '@automation/database'
import { type ErasedValue, erasedMark } from '@automation/engine'
import type { Transaction } from '../removal/removal.js'
import { rowsBehind } from '../turns/rows-behind.js'
import { eraseColumns, type HeldRow, isJson } from './erase-columns.js'
import type { ErasedCounts, ErasedKind } from './erase-events.js'
import { deliveredColumns, type HeldColumns, type HeldTable, heldColumns } from './held-columns.js'

/** Rows that have what was made of events, and no index by their event: all those of the workspace are looked at. */
interface OtherRows {
  /** Of its count. */
  name: Exclude<ErasedKind, 'events' | 'executions' | 'tasks'>
  table: HeldTable
  /** Default: all columns of the table that hold something. */
  columns?: HeldColumns
  /** With the workspace it is the order of an index. */
  key: [name: string, type: 'uuid' | 'text'][]
  /** Which of them; default: all. Decided before a large column is read. */
  where?: string
}

/** In this order, after the events. */
const otherRows: readonly OtherRows[] = [
  {
    name: 'keptResponses',
    table: 'idempotency_keys',
    key: [['key', 'text']],
    where: `(SELECT erased_at FROM events WHERE events.id = held_rows.event_id AND events.workspace_id = held_rows.workspace_id) IS NOT NULL
      OR EXISTS (
        SELECT FROM executions
        WHERE executions.event_id = held_rows.event_id AND executions.workspace_id = held_rows.workspace_id
          AND executions.id BETWEEN (left(held_rows.event_id::text, 13) || '-0000-0000-000000000000')::uuid
                                AND (left(held_rows.event_id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid
          AND position('${erasedMark}' IN results::text) > 0)`,
  },
  // Of decisions and acknowledgements, which name no event.
  {
    name: 'keptResponses',
    table: 'idempotency_keys',
    columns: { answer: ['error', 'reason'] },
    key: [['key', 'text']],
    where: 'held_rows.event_id IS NULL',
  },
  {
    name: 'receipts',
    table: 'webhook_receipts',
    key: [['id', 'uuid']],
    where:
      '(SELECT max(erased_at) FROM events WHERE events.id = ANY (held_rows.event_ids) AND events.workspace_id = held_rows.workspace_id) IS NOT NULL',
  },
  { name: 'rejections', table: 'webhook_rejections', key: [['id', 'uuid']] },
  { name: 'backtests', table: 'backtests', key: [['id', 'uuid']] },
  { name: 'lastErrors', table: 'rule_counters', key: [['rule_id', 'uuid']] },
  {
    name: 'acknowledgements',
    table: 'acknowledgements',
    key: [
      ['handler_id', 'uuid'],
      ['error', 'text'],
    ],
  },
  // Deliveries to subscriptions repeat errors of executions.
  {
    name: 'deliveries',
    table: 'events',
    columns: deliveredColumns,
    key: [['id', 'uuid']],
    where: `held_rows.addressee_kind = 'subscription'`,
  },
  { name: 'auditEntries', table: 'audit_entries', key: [['id', 'uuid']] },
  { name: 'deliveries', table: 'executions', key: [['id', 'uuid']], where: 'held_rows.is_delivery' },
]

const pageRows = 1_000

/** Where a walk over the other rows is: behind the row with this key in the n-th of their tables. */
export interface RowsPosition {
  table: number
  after: string[] | null
}

/**
 * Erases a value from a page of rows that were not found by their events. It needs the lock of the workspace.
 *
 * @returns where the next page begins; undefined after the last one
 */
export async function eraseRows(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  { table: index, after }: RowsPosition,
): Promise<{ erased: ErasedCounts; next: RowsPosition | undefined }> {
  const kind = otherRows[index]
  if (kind === undefined) return { erased: {}, next: undefined }
  const { count, last, rows } = await readPage(transaction, workspaceId, kind, value, after)
  let erased = 0
  for (const row of rows) {
    const columns = eraseColumns(columnsOf(kind), row, value)
    if (Object.keys(columns).length === 0) continue
    await writeRow(transaction, workspaceId, kind, row, columns)
    erased++
  }
  const isOver = count < pageRows || last === null
  return {
    erased: { [kind.name]: erased },
    next: isOver ? { table: index + 1, after: null } : { table: index, after: last },
  }
}

function columnsOf({ table, columns = heldColumns[table] }: OtherRows): HeldColumns {
  return columns
}

async function readPage(
  transaction: Transaction,
  workspaceId: string,
  kind: OtherRows,
  value: ErasedValue,
  after: string[] | null,
): Promise<{ count: number; last: string[] | null; rows: HeldRow[] }> {
  const { table, key, where = 'true' } = kind
  const held = Object.entries(columnsOf(kind))
  const order = Prisma.raw(['workspace_id', ...key.map(([name]) => name)].join(', '))
  const [first] = key[0] ?? []
  const isBehind =
    first === 'id'
      ? rowsBehind(workspaceId, after?.[0] ?? null)
      : after === null
        ? Prisma.sql`workspace_id = ${workspaceId}::uuid`
        : Prisma.sql`workspace_id = ${workspaceId}::uuid AND (${order}) > (${workspaceId}::uuid, ${Prisma.join(
            key.map(([, type], place) => Prisma.sql`${after[place]}::${Prisma.raw(type)}`),
          )})`
  const may = Prisma.join(
    held.flatMap(([name, how]) =>
      value.forms.map(
        ({ text, json }) =>
          Prisma.sql`position(${isJson(how) ? json : text} IN held_rows.${Prisma.raw(name)}::text) > 0`,
      ),
    ),
    ' OR ',
  )
  const keys = Prisma.raw(key.map(([name]) => `${name}::text`).join(', '))
  const columns = Prisma.raw(
    held.map(([name]) => `CASE WHEN is_held THEN page.${name}::text END AS "c_${name}"`).join(', '),
  )
  const found = await transaction.$queryRaw<{ key: string[]; isHeld: boolean | null }[]>(Prisma.sql`
    WITH page AS (
      SELECT held_rows.*, CASE WHEN ${Prisma.raw(where)} THEN ${may} END AS is_held
      FROM (
        SELECT * FROM ${Prisma.raw(table)} WHERE ${isBehind}
        ORDER BY ${order} LIMIT ${pageRows}
      ) AS held_rows
    )
    SELECT ARRAY[${keys}] AS key, is_held AS "isHeld", ${columns} FROM page ORDER BY ${order}`)
  const rows = found.flatMap(({ key: at, isHeld, ...rest }) => {
    if (!isHeld) return []
    const texts = Object.entries(rest).map(([name, text]) => [name.slice(2), text])
    return [
      { ...Object.fromEntries(texts), ...Object.fromEntries(key.map(([name], i) => [`k_${name}`, at[i]])) },
    ]
  })
  return { count: found.length, last: found.at(-1)?.key ?? null, rows }
}

async function writeRow(
  transaction: Transaction,
  workspaceId: string,
  kind: OtherRows,
  row: HeldRow,
  columns: HeldRow,
): Promise<void> {
  const { table, key } = kind
  const isRow = Prisma.join(
    key.map(([name, type]) => Prisma.sql`${Prisma.raw(name)} = ${row[`k_${name}`]}::${Prisma.raw(type)}`),
    ' AND ',
  )
  const held = columnsOf(kind)
  const names = Object.keys(columns)
  if (names.some((name) => held[name] === 'removed')) {
    await transaction.$executeRaw(
      Prisma.sql`DELETE FROM ${Prisma.raw(table)} WHERE workspace_id = ${workspaceId}::uuid AND ${isRow}`,
    )
    return
  }
  const sets = names.map((name) => {
    const text = held[name] === 'unique' ? `${erasedMark} ${row[`k_${key[0]?.[0]}`]}` : columns[name]
    return Prisma.sql`${Prisma.raw(name)} = ${text}${isJson(held[name]) ? Prisma.raw('::json') : Prisma.empty}`
  })
  // The slice that a worker computes is not stored: it began with the state before.
  if (table === 'backtests') sets.push(Prisma.sql`lease = NULL`, Prisma.sql`lease_until = NULL`)
  await transaction.$executeRaw(
    Prisma.sql`UPDATE ${Prisma.raw(table)} SET ${Prisma.join(sets)} WHERE workspace_id = ${workspaceId}::uuid AND ${isRow}`,
  )
}
