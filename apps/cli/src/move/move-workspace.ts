import { setTimeout as delay } from 'node:timers/promises'
import { type Administrator, Refused } from '@automation/access'
import { type Database, describeDatabaseError, newId } from '@automation/database'
import {
  auditLedger,
  copyLate,
  copyPass,
  hasBacklog,
  inTurn,
  isQuiet,
  type Move,
  mostWaiting,
  openAtTarget,
  type Pass,
  parkAll,
  prepareMove,
  readState,
  refuseOpening,
  removeCopy,
  type Transaction,
} from '@automation/ledger'
import { closeWorkspace, deleteWorkspace, openWorkspace } from '@automation/rules'
import { longLimits } from '../backup/back-up.js'
import { CommandError } from '../command-error.js'
import { readOtherDatabaseUrl } from '../config.js'
import { useDatabase, useWorkspace } from '../use-database.js'
import { checkFit, checkSchemas, type Sides } from './check-fit.js'
import { whileHeard } from './while-heard.js'

/** The workspace is closed after a pass that has copied no more rows than that, or after so many passes. */
const enough = { rows: 1_000, passes: 6 }
/** How long (ms) the workspace stays closed for the calls that are in progress. */
const longestWaitMs = 30_000
const lookMs = 100
/** How long (ms) a database may respond to nothing, and how long the workspace may be closed, until the command gives up. */
const usualPatience = { muteMs: 60_000, lookMs: 5_000, pauseMs: 120_000 }

export interface Moved {
  workspaceId: string
  passes: number
  /** For how long the workspace was open nowhere. */
  closedMs: number
  /** That were written, in all passes. */
  rows: number
}

interface Both extends Sides {
  /** Throws if another command may move the workspace by now. */
  keep(): Promise<unknown>
}

/** Works in both databases. @throws CommandError if the two do not fit, or one of them responds no more */
function useBoth<Result>(
  workspaceId: string,
  work: (both: Both) => Promise<Result>,
  patience = usualPatience,
): Promise<Result> {
  const from = readOtherDatabaseUrl('TARGET_DATABASE_URL', 'the database that the workspace moves to')
  return useWorkspace(
    'change',
    workspaceId,
    (administrator) =>
      useDatabase(
        'change',
        ({ database: target }) =>
          whileHeard({ source: administrator.database, target }, patience, async () => {
            const move = await prepare(administrator, target)
            const done = await inTurn(move, (keep) => work({ move, keep, administrator, target }))
            if (done === undefined)
              throw new CommandError(
                'Another command moves the workspace at this moment. Nothing was changed.',
              )
            return done.result
          }),
        { ...longLimits, from, pool: 6, role: 'To' },
      ),
    { ...longLimits, role: 'From' },
  )
}

async function prepare({ database: source, workspaceId }: Administrator, target: Database): Promise<Move> {
  await checkSchemas(source, target)
  return prepareMove({ source, target, workspaceId }).catch((error: Error) => {
    throw new CommandError(`${error.message}. Nothing was changed.`, { cause: error })
  })
}

/**
 * Copies a workspace while it works, closes it, copies the rest and opens it in the target. If that does not come to its end, it opens the workspace here again,
 * unless the target has it.
 */
export function moveWorkspace(workspaceId: string, patience = usualPatience): Promise<Moved> {
  const moveAll = async (both: Both): Promise<Moved> => {
    await checkFit(both)
    const { administrator, keep } = both
    const move = await begin(both)
    const { pass, passes, rows } = await copyAll(move, keep)
    const closedAt = await close(move, administrator)
    const from = performance.now()
    const pause = limitPause(both, patience.pauseMs)
    say('The workspace is closed. Its work ends …')
    try {
      await parkAll(move)
      await untilQuiet(move, closedAt, pause.signal)
      // What was accepted meanwhile.
      await parkAll(move)
      await keep()
      pause.signal.throwIfAborted()
      const last = await openAtTarget(move, pass, closedAt, (rows) => noteOpening(rows, administrator))
      const closedMs = Math.round(performance.now() - from)
      return { workspaceId, passes: passes + 1, closedMs, rows: rows + last }
    } catch (error) {
      pause.end()
      await undo(move, administrator).catch((fault: Error) => {
        throw new CommandError(
          `${why(error)}. ${why(fault)}. Unless the target has opened the workspace, it is closed: run the command again, or workspaces reopen.`,
          { cause: error },
        )
      })
      throw new CommandError(
        `${why(error)}. The workspace is open here again, and the target has nothing of it.`,
        { cause: error },
      )
    } finally {
      pause.end()
    }
  }
  return useBoth(workspaceId, moveAll, patience)
}

/** Ctrl-C, or a line that dropped alone, ends what the two databases do, so that the workspace is opened here again. */
function limitPause({ administrator: { database: source }, target }: Both, pauseMs: number) {
  const over = new AbortController()
  const end = (why: string) => {
    over.abort(new Error(why))
    for (const database of [source, target]) database.breakOff(over.signal.reason)
  }
  const timer = setTimeout(end, pauseMs, `The workspace was closed for ${Math.round(pauseMs / 1_000)} s`)
  const interrupt = () => end('Interrupted')
  process.once('SIGINT', interrupt)
  return {
    signal: over.signal,
    end() {
      clearTimeout(timer)
      process.off('SIGINT', interrupt)
    },
  }
}

/** Opens the workspace here again if an earlier command was ended while it was closed: all is copied again now. */
async function begin({ move, administrator }: Both): Promise<Move> {
  if (!move.isBegun) return move
  await openWorkspace(administrator, move.id, () => refuseOpening(move))
  return prepareMove(move)
}

async function copyAll(
  move: Move,
  keep: Both['keep'],
): Promise<{ pass: Pass; passes: number; rows: number }> {
  let pass: Pass | undefined
  let [passes, rows] = [0, 0]
  do {
    await keep()
    pass = await copyPass(move, pass)
    passes++
    rows += pass.written
    say(`Pass ${passes}: ${pass.written} rows in ${Math.ceil(pass.ms)} ms`)
  } while (passes < 2 || (pass.written > enough.rows && passes < enough.passes))
  return { pass, passes, rows }
}

/** @throws CommandError if the workspace has too much to do, or another command has closed it for another target */
async function close(move: Move, administrator: Administrator): Promise<Date> {
  if (await hasBacklog(move))
    throw new CommandError(
      `More than ${mostWaiting} events of the workspace wait: it would be closed for long. Move it when they are done. It is open here.`,
    )
  return closeWorkspace(administrator, move.id).catch(async (error: Error) => {
    if (!(error instanceof Refused)) throw error
    await refuseOpening(move)
    await removeCopy(move)
    throw new CommandError(`${error.message}. The target has nothing of it.`, { cause: error })
  })
}

async function untilQuiet(move: Move, closedAt: Date, signal: AbortSignal): Promise<void> {
  const endsAt = performance.now() + longestWaitMs
  while (!(await isQuiet(move, closedAt))) {
    if (performance.now() > endsAt) throw new Error(`Calls are in progress after ${longestWaitMs} ms`)
    await delay(lookMs)
    signal.throwIfAborted()
  }
}

async function undo(move: Move, administrator: Administrator): Promise<void> {
  await openWorkspace(administrator, move.id, () => refuseOpening(move))
  await removeCopy(move)
}

function noteOpening(transaction: Transaction, { actor, workspaceId }: Administrator) {
  const entry = { action: 'workspace.updated', subject: workspaceId, details: { isClosed: false } }
  return transaction.auditEntry.create({ data: { id: newId(), workspaceId, actor, ...entry } })
}

/** Opens the workspace here again, and removes what the target has of it. */
export function reopenWorkspace(workspaceId: string): Promise<{ workspaceId: string }> {
  return useBoth(workspaceId, async ({ move, administrator }) => {
    const there = await readState(move.target.system, workspaceId)
    if (there?.closedAt === null)
      throw new CommandError('The workspace is open in the target. Nothing was changed.')
    await undo(move, administrator).catch((error: Error) => {
      throw new CommandError(`${why(error)}. Run the command again, or leave it as it is.`, { cause: error })
    })
    return { workspaceId }
  })
}

export interface Left {
  workspaceId: string
  /** Events that were accepted here at the last moment, and are there now. */
  late: number
  /** Of the target. */
  faults: string[]
}

const dayMs = 24 * 60 * 60 * 1_000
const auditMs = 5_000

/** When the requests of the workspace are led to the target: copies what was accepted here at the last moment, and has the workspace removed here. */
export function leaveWorkspace(workspaceId: string, name: string): Promise<Left> {
  return useBoth(workspaceId, async ({ move, administrator, target }) => {
    const there = await readState(target.system, workspaceId)
    if (there === undefined || there.closedAt !== null)
      throw new CommandError('The workspace is not open in the target. Nothing was changed.')
    // Open in both, after a restore: the one that is in use cannot be told from the other.
    if (!move.isBegun)
      throw new CommandError(
        'The workspace is open here: no move has closed it. Where another installation has it, delete it here (workspaces delete). Nothing was changed.',
      )
    const closedAt = await closeWorkspace(administrator, move.id)
    await untilSettled(move, closedAt)
    const late = await copyLate(move, closedAt)
    const now = Date.now()
    const { faults } = await auditLedger(target, {
      ...{ workspaceId, from: now - dayMs, to: now, keptSince: now - dayMs + 60_000, budgetMs: auditMs },
    })
    await deleteWorkspace(administrator, name, new Date(0))
    return { workspaceId, late, faults: faults.map(({ kind, count }) => `${count} × ${kind}`) }
  })
}

/** A request that was being read when the workspace was closed may be accepted so much later (ms): not a later one whose caller hears of it (deadline.ts of the API). */
const longestRequestMs = 30_000

async function untilSettled({ source }: Move, closedAt: Date): Promise<void> {
  const [found] = await source.system.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`
  const leftMs = closedAt.getTime() + longestRequestMs - (found?.now.getTime() ?? 0)
  if (leftMs <= 0) return
  say(`The last requests end: ${Math.ceil(leftMs / 1_000)} s …`)
  await delay(leftMs)
}

function why(error: unknown): string {
  return describeDatabaseError(error).replace(/\.$/, '')
}

function say(sentence: string): void {
  console.error(sentence)
}
