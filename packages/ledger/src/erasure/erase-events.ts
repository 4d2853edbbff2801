import { setImmediate } from 'node:timers/promises'
import { newId, Prisma, writeJson } from '@automation/database'
import type { ErasedValue } from '@automation/engine'
import type { Transaction } from '../removal/removal.js'
import { eraseColumns, type HeldRow, isJson } from './erase-columns.js'
import { heldColumns } from './held-columns.js'

/** What an erasure counts. */
export const erasedKinds = [
  'events',
  'executions',
  'tasks',
  'keptResponses',
  'receipts',
  'rejections',
  'backtests',
  'lastErrors',
  'acknowledgements',
  'auditEntries',
  'deliveries',
] as const
export type ErasedKind = (typeof erasedKinds)[number]
export type ErasedCounts = Partial<Record<ErasedKind, number>>

/** How many rows were changed, and how many events were left. */
export interface ErasedRows {
  erased: ErasedCounts
  unfinished: number
}

/** Rows of which each may have a mebibyte. */
const readAtOnce = 16

/** An event from outside with those that it led to, and what belongs to them. */
interface Chain {
  rootId: string
  eventIds: string[]
  executionIds: string[]
  isUnfinished: boolean
}

/**
 * Erases a value from events, and from what was made of them: the other events of their chains, executions, batches that collected them, and tasks. Their keys
 * are forgotten. What such a batch has led to follows (eraseReaders). It needs the lock of the workspace: nobody reopens an execution, or erases another value, at the same time.
 *
 * A chain with an event, execution or batch that is not finished is left: a worker may hold its data.
 *
 * @param matched events that have the value at the path
 */
export async function eraseEvents(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  matched: readonly string[],
): Promise<ErasedRows> {
  if (matched.length === 0) return { erased: {}, unfinished: 0 }
  const chains = await readChains(transaction, workspaceId, matched)
  const finished = chains.filter(({ isUnfinished }) => !isUnfinished)
  const erased = await eraseChains(transaction, workspaceId, value, finished, new Set(matched))
  await forgetKeys(transaction, workspaceId, finished)
  const left = new Set(chains.filter((chain) => chain.isUnfinished).flatMap(({ eventIds }) => eventIds))
  return { erased, unfinished: matched.filter((id) => left.has(id)).length }
}

/** The same for events that do not have it at the path, but whose executions acted for others that do. Their keys stay. */
export async function eraseRelated(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  eventIds: readonly string[],
): Promise<ErasedRows> {
  if (eventIds.length === 0) return { erased: {}, unfinished: 0 }
  const chains = await readChains(transaction, workspaceId, eventIds)
  const finished = chains.filter(({ isUnfinished }) => !isUnfinished)
  return {
    erased: await eraseChains(transaction, workspaceId, value, finished),
    unfinished: chains.length - finished.length,
  }
}

export function addCounts(counts: ErasedCounts, more: ErasedCounts): ErasedCounts {
  const sum = { ...counts }
  for (const [kind, count] of Object.entries(more) as [ErasedKind, number][])
    sum[kind] = (sum[kind] ?? 0) + count
  return sum
}

async function eraseChains(
  transaction: Transaction,
  workspaceId: string,
  value: ErasedValue,
  chains: readonly Chain[],
  matched?: ReadonlySet<string>,
): Promise<ErasedCounts> {
  const eventIds = chains.flatMap((chain) => chain.eventIds)
  const executionIds = [...new Set(chains.flatMap((chain) => chain.executionIds))]
  const events = await eraseAll(transaction, workspaceId, 'events', eventIds, value, matched)
  const executions = await eraseAll(transaction, workspaceId, 'executions', executionIds, value)
  const taskIds = await findTasks(transaction, workspaceId, executionIds)
  return { events, executions, tasks: await eraseAll(transaction, workspaceId, 'tasks', taskIds, value) }
}

const executionsOf = Prisma.sql`
  executions.workspace_id = chain_events.workspace_id AND executions.event_id = chain_events.id
  AND executions.id BETWEEN (left(chain_events.id::text, 13) || '-0000-0000-000000000000')::uuid
                        AND (left(chain_events.id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid`

/** Roots and those below them, each by its index. */
async function readChains(
  transaction: Transaction,
  workspaceId: string,
  ids: readonly string[],
): Promise<Chain[]> {
  return transaction.$queryRaw<Chain[]>(Prisma.sql`
    WITH roots AS MATERIALIZED (
      SELECT DISTINCT coalesce(root_id, id) AS id FROM events
      WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${ids}::uuid[])
    ),
    chain_events AS MATERIALIZED (
      SELECT roots.id AS root_id, events.id, events.workspace_id, done_at
      FROM roots JOIN events ON events.id = roots.id WHERE workspace_id = ${workspaceId}::uuid
      UNION ALL
      SELECT roots.id, events.id, events.workspace_id, done_at
      FROM roots JOIN events ON events.root_id = roots.id WHERE workspace_id = ${workspaceId}::uuid
      UNION
      SELECT coalesce(root_id, id), id, workspace_id, done_at FROM events
      WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${ids}::uuid[])
    ),
    own_executions AS MATERIALIZED (
      SELECT chain_events.root_id, executions.id, executions.finished_at FROM chain_events JOIN executions ON ${executionsOf}
    ),
    claims AS MATERIALIZED (
      SELECT own_executions.root_id, batch_id, place FROM own_executions
      JOIN key_claims ON key_claims.execution_id = own_executions.id AND key_claims.workspace_id = ${workspaceId}::uuid
    ),
    all_executions AS (
      SELECT root_id, id, finished_at FROM own_executions
      UNION
      SELECT claims.root_id, executions.id, executions.finished_at FROM claims
      JOIN executions ON executions.id = claims.batch_id AND executions.workspace_id = ${workspaceId}::uuid
    )
    SELECT roots.id AS "rootId",
           ARRAY(SELECT chain_events.id::text FROM chain_events WHERE chain_events.root_id = roots.id ORDER BY 1) AS "eventIds",
           ARRAY(SELECT all_executions.id::text FROM all_executions WHERE all_executions.root_id = roots.id ORDER BY 1) AS "executionIds",
           EXISTS (SELECT FROM chain_events WHERE chain_events.root_id = roots.id AND done_at IS NULL)
           OR EXISTS (SELECT FROM all_executions WHERE all_executions.root_id = roots.id AND finished_at IS NULL)
           OR EXISTS (SELECT FROM claims WHERE claims.root_id = roots.id AND place IS NOT NULL)
           OR EXISTS (
             SELECT FROM chain_events JOIN event_keys ON event_keys.event_id = chain_events.id
             WHERE chain_events.root_id = roots.id AND is_waking) AS "isUnfinished"
    FROM roots ORDER BY roots.id`)
}

type ChainTable = 'events' | 'executions' | 'tasks'

/** @returns how many rows are others now */
async function eraseAll(
  transaction: Transaction,
  workspaceId: string,
  table: ChainTable,
  ids: readonly string[],
  value: ErasedValue,
  matched: ReadonlySet<string> = new Set(),
): Promise<number> {
  let count = 0
  for (let from = 0; from < ids.length; from += readAtOnce) {
    const rows = await readRows(transaction, workspaceId, table, ids.slice(from, from + readAtOnce))
    const changed: HeldRow[] = []
    for (const { id, ...row } of rows) {
      // A worker does other work meanwhile.
      await setImmediate()
      const columns = eraseColumns(heldColumns[table], row, value)
      if (matched.has(id as string)) columns.data = writeJson(value.eraseData(JSON.parse(row.data as string)))
      if (Object.keys(columns).length > 0) changed.push({ ...row, ...columns, id: id ?? null })
    }
    if (changed.length > 0) await writeRows(transaction, workspaceId, table, changed)
    count += changed.length
  }
  return count
}

function readRows(
  transaction: Transaction,
  workspaceId: string,
  table: ChainTable,
  ids: readonly string[],
): Promise<HeldRow[]> {
  const columns = Object.keys(heldColumns[table]).map((name) => `${name}::text AS ${name}`)
  return transaction.$queryRaw<HeldRow[]>(Prisma.sql`
    SELECT id::text AS id, ${Prisma.raw(columns.join(', '))} FROM ${Prisma.raw(table)}
    WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${ids}::uuid[])
    ORDER BY ${Prisma.raw(table)}.id FOR UPDATE`)
}

async function writeRows(
  transaction: Transaction,
  workspaceId: string,
  table: ChainTable,
  rows: HeldRow[],
): Promise<void> {
  const columns = Object.entries(heldColumns[table])
  const sets = columns.map(([name, held]) => `${name} = input.${name}${isJson(held) ? '::json' : ''}`)
  if (table === 'events') sets.push('erased_at = now()')
  const fields = ['id uuid', ...columns.map(([name]) => `${name} text`)]
  await transaction.$executeRaw(Prisma.sql`
    UPDATE ${Prisma.raw(table)} SET ${Prisma.raw(sets.join(', '))}
    FROM json_to_recordset(${writeJson(rows)}::json) AS input (${Prisma.raw(fields.join(', '))})
    WHERE ${Prisma.raw(table)}.id = input.id AND ${Prisma.raw(table)}.workspace_id = ${workspaceId}::uuid`)
}

async function findTasks(
  transaction: Transaction,
  workspaceId: string,
  executionIds: readonly string[],
): Promise<string[]> {
  const rows = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM tasks WHERE workspace_id = ${workspaceId}::uuid AND execution_id = ANY (${executionIds}::uuid[]) ORDER BY id`)
  return rows.map(({ id }) => id)
}

/**
 * Keys are digests of what the event had, and can be guessed. No WAIT finds these events any more. A claim gets the digest of nothing: its window counts for
 * nobody, and what it says of its own execution stays.
 */
async function forgetKeys(
  transaction: Transaction,
  workspaceId: string,
  chains: readonly Chain[],
): Promise<void> {
  const eventIds = chains.flatMap((chain) => chain.eventIds)
  const executionIds = chains.flatMap((chain) => chain.executionIds)
  await transaction.$executeRaw(Prisma.sql`
    DELETE FROM event_keys WHERE event_id = ANY (${eventIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid`)
  await transaction.$executeRaw(Prisma.sql`
    UPDATE key_claims SET key_id = md5(key_id::text || ${newId()})::uuid
    WHERE execution_id = ANY (${executionIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid AND event_id = ANY (${eventIds}::uuid[])`)
}
