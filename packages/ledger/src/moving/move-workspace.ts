import type { Transaction } from '../removal/removal.js'
import { leaseSeconds } from '../unfinished/leases.js'
import { copyRows, copyTable, type Rows } from './copy-rows.js'
import { copyLastChanges, writtenSince } from './last-pass.js'
import { changeLock, changesOf, hasArrived, inSnapshot, type Move, type Pass, readState } from './move.js'

/**
 * Copies the many rows while the workspace works.
 *
 * @param before undefined: nothing was copied by this process, which compares all rows with those that an earlier one may have left
 */
export async function copyPass(move: Move, before: Pass | undefined): Promise<Pass> {
  const { target, workspaceId, tables } = move
  const from = performance.now()
  if (before === undefined) move.shift = await reserveKeyIds(move)
  return inSnapshot(move, async (snapshot, of) => {
    await (before === undefined ? arrive(move, snapshot) : refuseUnlessArriving(move, target.system))
    const pass: Pass = { ...of, written: 0, removed: 0, ms: 0 }
    for (const table of tables.inPasses) {
      const change = changesOf(move, table, false)
      if (before === undefined) {
        const { written, removed } = await copyTable(snapshot, target.system, table, workspaceId, change)
        pass.written += written
        pass.removed += removed
      } else {
        const where = writtenSince(before)
        pass.written += await copyRows(snapshot, target.system, table, workspaceId, { where, change })
      }
    }
    if (before !== undefined) await refuseMissing(snapshot, target.system, workspaceId)
    return { ...pass, ms: performance.now() - from }
  })
}

/** The row of the workspace itself: it is closed, and says with which move it has come. */
function arrive(move: Move, snapshot: Rows): Promise<void> {
  const { target, workspaceId, tables } = move
  return target.system.$transaction(async (rows) => {
    const moving = `'from ${move.id}'`
    const change = { closed_at: 'now()', moving, has_parked: 'true' }
    await copyRows(snapshot, rows, tables.workspaces, workspaceId, { change, isOnlyNew: true })
    if (hasArrived(move, await readState(rows, workspaceId, changeLock)))
      await rows.$executeRawUnsafe(
        `UPDATE workspaces SET moving = ${moving} WHERE id = $1::uuid`,
        workspaceId,
      )
    await refuseUnlessArriving(move, rows)
  })
}

/** Keeps it so until the end of a transaction. @throws Error if the target has another workspace than what this move has brought */
async function refuseUnlessArriving({ id, workspaceId }: Move, rows: Rows): Promise<void> {
  const there = await readState(rows, workspaceId, changeLock)
  if (there?.closedAt === null) throw new Error('The workspace is open in the target')
  if (there?.side !== 'from' || there.moveId !== id)
    throw new Error('The target has the workspace from another move')
}

/** No installation gives so many ids of event_keys during a move. */
const manyKeys = 1_000_000_000n

/**
 * All ids of the workspace fit behind those that the target has given, and the next ones of the target come behind them. The ids before its first one take no
 * room: after many moves there and back Postgres would have no higher number.
 */
async function reserveKeyIds({ source, target, workspaceId }: Move): Promise<bigint> {
  const last = await nextKeyId(source.system)
  const [known] = await source.system.$queryRawUnsafe<{ first: bigint | null }[]>(
    'SELECT min(id) AS first FROM event_keys WHERE workspace_id = $1::uuid',
    workspaceId,
  )
  return target.system.$transaction(async (rows) => {
    await rows.$executeRawUnsafe(`SELECT pg_advisory_xact_lock(hashtextextended('ids of event_keys', 0))`)
    const shift = (await nextKeyId(rows)) + manyKeys - (known?.first ?? last)
    await rows.$executeRawUnsafe(`SELECT setval(${keyIds}, ${shift + last + manyKeys})`)
    return shift
  })
}

const keyIds = `pg_get_serial_sequence('event_keys', 'id')`

async function nextKeyId(rows: Rows): Promise<bigint> {
  const [found] = await rows.$queryRawUnsafe<{ next: bigint }[]>(`SELECT nextval(${keyIds}) AS next`)
  return found?.next ?? 0n
}

/** The target removes none of them before the opening. */
const counted = ['executions', 'events', 'tasks']

/** @throws Error if the target has fewer rows of a table than the source */
async function refuseMissing(snapshot: Rows, target: Rows, workspaceId: string): Promise<void> {
  for (const name of counted) {
    const [there, here] = [
      await countRows(snapshot, name, workspaceId),
      await countRows(target, name, workspaceId),
    ]
    if (here < there) throw new Error(`The target has ${here} of ${there} rows of ${name}`)
  }
}

async function countRows(rows: Rows, name: string, workspaceId: string): Promise<number> {
  const [found] = await rows.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::float8 AS count FROM ${name} WHERE workspace_id = $1::uuid`,
    workspaceId,
  )
  return found?.count ?? 0
}

/**
 * What may be in progress of a workspace that is closed. A worker sees within two seconds that it is, and a process of the API within one: what they accept
 * until then is not lost. $1 workspace · $2 since when it is closed · $3 seconds of a lease
 */
const isQuietSql = `
  SELECT $2::timestamptz + interval '1500 milliseconds' < clock_timestamp() AND NOT EXISTS (
    SELECT FROM executions
    WHERE workspace_id = $1::uuid AND status = 'running' AND parked IS NULL AND due_at > now() AND due_at <= now() + make_interval(secs => $3::float8)
  ) AS "isQuiet"`

export async function isQuiet({ source, workspaceId }: Move, closedAt: Date): Promise<boolean> {
  const [found] = await source.system.$queryRawUnsafe<{ isQuiet: boolean }[]>(
    isQuietSql,
    workspaceId,
    closedAt,
    leaseSeconds,
  )
  return found?.isQuiet === true
}

/**
 * From now on no worker that stood still can finish what it holds of the workspace: not an event, and under no old lease an execution. Both statements use the
 * indexes of what is to be done. $1 workspace
 */
const parkEventsSql = `
  UPDATE events SET parked = true WHERE workspace_id = $1::uuid AND done_at IS NULL AND parked IS NULL`
const parkExecutionsSql = `
  UPDATE executions SET parked = true, lease = CASE WHEN lease IS NOT NULL THEN gen_random_uuid() END
  WHERE due_at <= now() AND (lease IS NOT NULL OR parked IS NULL) AND id = ANY (ARRAY(
    SELECT id FROM executions WHERE workspace_id = $1::uuid AND due_at <= now() AND parked IS NULL
    UNION ALL
    SELECT id FROM executions WHERE workspace_id = $1::uuid AND parked))`

export async function parkAll({ source: { system }, workspaceId }: Move): Promise<void> {
  for (const text of [parkEventsSql, parkExecutionsSql])
    await system.$transaction(async (rows) => {
      await limitWaits(rows)
      await rows.$executeRawUnsafe(text, workspaceId)
    }, longest)
}

/** So many events that wait are copied while the workspace is closed, with room to spare. */
export const mostWaiting = 10_000

/** Whether more events wait than the last pass should copy. Those that are parked, since the workspace is suspended, come before it. */
export async function hasBacklog({ source, workspaceId }: Move): Promise<boolean> {
  const [found] = await source.system.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM events WHERE workspace_id = $1::uuid AND done_at IS NULL AND parked IS NULL LIMIT ${mostWaiting + 1}) AS waiting`,
    workspaceId,
  )
  return (found?.count ?? 0) > mostWaiting
}

/**
 * The last pass, and the opening, in one transaction of the target.
 *
 * @param closedAt since when the source is closed
 * @param note writes the entry of the audit log
 * @returns how many rows were written
 * @throws Error if it was opened meanwhile, or the target has another workspace than what has come from here
 */
export function openAtTarget(
  move: Move,
  before: Pass,
  closedAt: Date,
  note: (rows: Transaction) => Promise<unknown>,
): Promise<number> {
  const { target, workspaceId, tables } = move
  const open = async (snapshot: Transaction) => {
    await limitWaits(snapshot)
    const here = await readState(snapshot, workspaceId, changeLock)
    if (here?.closedAt?.getTime() !== closedAt.getTime() || here.side !== 'to' || here.moveId !== move.id)
      throw new Error('The move was undone meanwhile')
    return target.system.$transaction(async (rows) => {
      await limitWaits(rows)
      await refuseUnlessArriving(move, rows)
      for (const { name } of tables.atOnce.toReversed())
        await rows.$executeRawUnsafe(`DELETE FROM ${name} WHERE workspace_id = $1::uuid`, workspaceId)
      let written = await copyLastChanges(snapshot, rows, move, before)
      for (const table of tables.atOnce) written += await copyRows(snapshot, rows, table, workspaceId)
      const change = { closed_at: 'NULL', moving: 'NULL', has_parked: 'true' }
      await copyRows(snapshot, rows, tables.workspaces, workspaceId, { change })
      await note(rows)
      return written
    }, longest)
  }
  return inSnapshot(move, open, longest)
}

/** How long (ms) a step may take while nobody reaches the workspace. */
const longest = { timeout: 60_000 }

/** A lock, a slow server or a line that dropped ends a step of them. */
async function limitWaits(rows: Rows): Promise<void> {
  await rows.$executeRawUnsafe(`SET LOCAL lock_timeout = '5s'`)
  await rows.$executeRawUnsafe(`SET LOCAL statement_timeout = '${longest.timeout / 2}ms'`)
  await rows.$executeRawUnsafe(`SET LOCAL idle_in_transaction_session_timeout = '${longest.timeout}ms'`)
}

/**
 * The target does not open the workspace any more.
 *
 * @throws Error if it has opened it, or has another workspace than what this move has brought
 */
export async function refuseOpening(move: Move): Promise<void> {
  const { target, workspaceId } = move
  await target.system.$transaction(async (rows) => {
    const there = await readState(rows, workspaceId, changeLock)
    if (there === undefined && !move.isBegun) return
    if (there?.closedAt === null) throw new Error('The workspace is open in the target')
    if (!hasArrived(move, there)) throw new Error('The target has the workspace from another move')
    await rows.$executeRawUnsafe(
      `UPDATE workspaces SET moving = 'undone ' || split_part(moving, ' ', 2) WHERE id = $1::uuid`,
      workspaceId,
    )
  })
}

const removedAtOnce = 10_000
const isUndone = `EXISTS (SELECT FROM workspaces WHERE id = $1::uuid AND moving LIKE 'undone %')`

/** Removes what a move that was undone has left in the target. */
export async function removeCopy({ target: { system }, workspaceId, tables }: Move): Promise<void> {
  for (const { name, key } of tables.inPasses.toReversed()) {
    const keys = key.map((one) => one.name).join(', ')
    const page = `SELECT ${keys} FROM ${name} WHERE workspace_id = $1::uuid AND ${isUndone} LIMIT ${removedAtOnce}`
    for (let removed = removedAtOnce; removed === removedAtOnce; )
      removed = await system.$executeRawUnsafe(
        `DELETE FROM ${name} WHERE (${keys}) IN (${page})`,
        workspaceId,
      )
  }
  await system.$executeRawUnsafe(`DELETE FROM workspaces WHERE id = $1::uuid AND ${isUndone}`, workspaceId)
}

/** Postgres asks an idle line after 10 s, and ends it 15 s later: by itself it waits for two hours, and the lock stays. */
const noticesDeadLine = Object.entries({ idle: 10, interval: 5, count: 3 })
  .map(([name, value]) => `set_config('tcp_keepalives_${name}', '${value}', true) AS ${name}`)
  .join(', ')

/**
 * Takes the lock of a move, until the work is over: a second move of the workspace would write over what the first one has opened.
 *
 * @param work gets what throws if the lock was lost meanwhile
 * @returns undefined if another process has it
 */
export async function inTurn<Result>(
  { target, workspaceId }: Pick<Move, 'target' | 'workspaceId'>,
  work: (keep: () => Promise<unknown>) => Promise<Result>,
): Promise<{ result: Result } | undefined> {
  let done: { result: Result } | undefined
  const holding = target.system.$transaction(async (transaction) => {
    const [lock] = await transaction.$queryRawUnsafe<{ isTaken: boolean }[]>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('move of ' || $1, 0)) AS "isTaken", ${noticesDeadLine}`,
      workspaceId,
    )
    if (lock?.isTaken) done = { result: await work(() => transaction.$executeRawUnsafe('SELECT 1')) }
  })
  // What is done is done, also if the lock was lost at the end.
  await holding.catch((error) => {
    if (done === undefined) throw error
  })
  return done
}
