import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { clockAheadMs, isClockWrong } from '../clock.js'
import { isCheckViolated, isLockTimeout } from '../database-errors.js'
import { openLong } from '../open-long.js'
import { readClock } from '../read-clock.js'
import { cutHighEdge, giveUpCut } from './cut-high-edge.js'
import { foldOldLeaf } from './fold-old-leaf.js'
import { mayChangeLeaves } from './leaf-tables.js'
import type { Step } from './step.js'

/** Any number that nothing else in this database locks. */
export const leavesLock = 7_201_130_001n
/** So often a step tries to get its locks. */
const mostAttempts = 10
/** Between two attempts all go on who have waited behind the first. */
const betweenAttemptsMs = 1_000

/** A step of an exchange, with its pause, is shorter. */
const stepMs = 15_000

/** Tables whose rows belong together: their leaves have the same bounds. */
const histories = { events: ['events', 'executions'], tasks: ['tasks'] }

type HistoryName = keyof typeof histories

export interface LeavesTurned {
  made: string[]
  gone: string[]
  /** What was not done, and why. */
  undone: string[]
}

interface TurnOptions {
  signal?: AbortSignal
  /** Epoch ms; in tests, and otherwise what Postgres' clock says. */
  now?: number
  mostSteps?: number
}

/**
 * Makes the leaves of the coming weeks, and drops old ones that are empty. Each step is a transaction of its own; where another process is at it, it does nothing.
 *
 * @param databaseUrl a `postgresql://` URL whose role owns the tables
 * @param days how long the rows of each history are kept; 0: they are never removed
 */
export async function turnLeaves(
  databaseUrl: string,
  days: Record<HistoryName, number>,
  { signal, now, mostSteps = Number.POSITIVE_INFINITY }: TurnOptions = {},
): Promise<LeavesTurned> {
  const turned: LeavesTurned = { made: [], gone: [], undone: [] }
  const client = await openLong(databaseUrl)
  // What runs is undone.
  const end = () => void client.end()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const obstacle = await findObstacle(client)
    if (obstacle) return { ...turned, undone: [obstacle] }
    for (const name of Object.keys(histories) as HistoryName[]) {
      let attempts = 0
      for (let steps = 0; steps < mostSteps; steps++) {
        const step = await takeStep(client, name, { days: days[name], now })
        turned.made.push(...(step.made ?? []))
        turned.gone.push(...(step.gone ?? []))
        attempts = step.waits ? attempts + 1 : 0
        if (step.gaveUp)
          turned.undone.push(`${name}: ids come close to the end of a leaf in the making, or are beyond it`)
        if (attempts === mostAttempts) turned.undone.push(`${name}: others hold locks`)
        if (!step.goesOn && (!step.waits || attempts === mostAttempts)) break
        if (step.waits) await setTimeout(betweenAttemptsMs, undefined, { signal })
      }
    }
    await forgetEmptiness(client)
    return turned
  } finally {
    signal?.removeEventListener('abort', end)
    await client.end()
  }
}

/** Both clocks are right, or one of them makes leaves for the wrong time. */
async function findObstacle(client: pg.Client): Promise<string | undefined> {
  if (!(await mayChangeLeaves(client))) return 'the role of this process does not own the tables'
  await readNow(client)
  return isClockWrong(clockAheadMs()) ? 'the clocks of this process and of Postgres differ' : undefined
}

/**
 * Where VACUUM or ANALYZE has seen a leaf before its time, statements are planned to read all of it, also when it fills, until it is analyzed again. Before version
 * 18 Postgres cannot forget that.
 */
async function forgetEmptiness(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE relnamespace = 'history'::regnamespace AND relkind = 'r' AND reltuples = 0
       AND current_setting('server_version_num')::int >= 180000`,
  )
  for (const { name } of rows) await client.query(`SELECT pg_clear_relation_stats('history', $1)`, [name])
}

function readNow(client: pg.Client): Promise<number> {
  return readClock({ run: async (_name, sql) => (await client.query(sql)).rows })
}

async function takeStep(
  client: pg.Client,
  name: HistoryName,
  { days, now: given }: { days: number; now: number | undefined },
): Promise<Step> {
  const tables = histories[name]
  try {
    return await inTransaction(client, async () => {
      const now = given ?? (await readNow(client))
      const cut = await cutHighEdge(client, tables, { now, days })
      return Object.keys(cut).length === 0 ? foldOldLeaf(client, tables, { now, days }) : cut
    })
  } catch (error) {
    if (!isCheckViolated(error)) throw error
    return inTransaction(client, () => giveUpCut(client, tables))
  }
}

/** An empty step where another process holds the lock for long. */
async function inTransaction(client: pg.Client, work: () => Promise<Step>): Promise<Step> {
  await client.query(
    'BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
  )
  try {
    const step = (await takeLock(client)) ? await work() : {}
    await client.query('COMMIT')
    return step
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** An exchange of leaves holds the lock in each of its steps, for hours. It is waited for in a queue, so it comes between two of them. */
async function takeLock(client: pg.Client): Promise<boolean> {
  try {
    await client.query(
      `SAVEPOINT before_lock; SET LOCAL lock_timeout = ${stepMs}; SELECT pg_advisory_xact_lock(${leavesLock}); SET LOCAL lock_timeout TO DEFAULT`,
    )
    return true
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await client.query('ROLLBACK TO SAVEPOINT before_lock')
    return false
  }
}
