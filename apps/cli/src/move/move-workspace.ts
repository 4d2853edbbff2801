import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Administrator } from '@automation/access'
import { type Database, newId, readAppliedSql } from '@automation/database'
import {
  auditLedger,
  type Counts,
  copyLate,
  copyPass,
  inTurn,
  isQuiet,
  type Move,
  openAtTarget,
  type Pass,
  parkAll,
  readClosedAt,
  readMovedTables,
  refuseOpening,
  removeCopy,
  type Transaction,
} from '@automation/ledger'
import { closeWorkspace, deleteWorkspace, openWorkspace } from '@automation/rules'
import { longLimits } from '../backup/back-up.js'
import { CommandError } from '../command-error.js'
import { readOtherDatabaseUrl } from '../config.js'
import { useDatabase, useWorkspace } from '../use-database.js'

/** The workspace is closed when a pass took no longer (ms) than that, or after so many passes. */
const enough = { ms: 1_000, passes: 6 }
/** How long (ms) the workspace stays closed for the calls that are in progress. */
const longestWaitMs = 30_000
const lookMs = 50

export interface Moved {
  workspaceId: string
  passes: number
  /** For how long the workspace was open nowhere. */
  closedMs: number
  rows: Counts
}

/** Works in both databases. @throws CommandError if the two do not fit */
function useBoth<Result>(
  workspaceId: string,
  work: (move: Move, administrator: Administrator) => Promise<Result>,
): Promise<Result> {
  const from = readOtherDatabaseUrl('TARGET_DATABASE_URL', 'the database that the workspace moves to')
  return useWorkspace(
    'change',
    workspaceId,
    (administrator) =>
      useDatabase(
        'change',
        async ({ database: target }) => {
          const source = administrator.database
          await checkSchemas(source, target)
          const move: Move = { source, target, workspaceId, tables: await readMovedTables(source) }
          if (!isDeepStrictEqual(move.tables, await readMovedTables(target)))
            throw new CommandError('The tables of the two databases differ. Nothing was changed.')
          const result = await inTurn(move, async () => ({ is: await work(move, administrator) }))
          if (result === undefined)
            throw new CommandError('Another command moves the workspace at this moment. Nothing was changed.')
          return result.is
        },
        { ...longLimits, from, pool: 6 },
      ),
    longLimits,
  )
}

async function checkSchemas(source: Database, target: Database): Promise<void> {
  const [ours, theirs] = [
    await source.run<{ name: string }>('read_migrations', readAppliedSql, []),
    await target.run<{ name: string }>('read_migrations', readAppliedSql, []),
  ]
  if (isDeepStrictEqual(ours, theirs)) return
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
  const differ = [...names(ours), ...names(theirs)].filter(
    (name) => !(names(ours).includes(name) && names(theirs).includes(name)),
  )
  throw new CommandError(
    `The two installations have other migrations${differ.length > 0 ? ` (${differ.join(', ')})` : ''}: bring both to the same version first. Nothing was changed.`,
  )
}

/**
 * Copies a workspace while it works, closes it, copies the rest and opens it in the target. If that does not come to its end, it opens the workspace here again,
 * unless the target has it.
 */
export function moveWorkspace(workspaceId: string): Promise<Moved> {
  return useBoth(workspaceId, async (move, administrator) => {
    const isClosed = (await readClosedAt(move.source.system, workspaceId)) instanceof Date
    await checkBoth(move, isClosed)
    let pass: Pass | undefined
    let passes = 0
    do {
      pass = await copyPass(move, pass)
      passes++
      say(`Pass ${passes}: ${pass.written} rows in ${Math.ceil(pass.ms)} ms`)
    } while (pass.ms > enough.ms && passes < enough.passes)
    const closedAt = await closeWorkspace(administrator)
    const from = performance.now()
    say('The workspace is closed. Its work ends …')
    try {
      await parkAll(move)
      await untilQuiet(move, closedAt)
      // What was accepted meanwhile.
      await parkAll(move)
      const rows = await openAtTarget(move, pass, closedAt, (transaction) =>
        noteOpening(transaction, administrator),
      )
      return { workspaceId, passes, closedMs: Math.round(performance.now() - from), rows }
    } catch (error) {
      await undo(move, administrator).catch((fault: Error) => {
        const why = `${(error as Error).message}. ${fault.message}`
        throw new CommandError(`${why}. Run the command again.`, { cause: error })
      })
      throw new CommandError(
        `${(error as Error).message}. The workspace is open here again, and the target has nothing of it.`,
        { cause: error },
      )
    }
  })
}

/** $1 workspace */
const isLeavingSql = `SELECT id FROM workspaces WHERE id = $1::uuid AND deletes_at IS NOT NULL`

/** @throws CommandError if the workspace leaves, or the target cannot take it */
async function checkBoth({ source, target, workspaceId }: Move, isClosed: boolean): Promise<void> {
  const [leaving] = await source.system.$queryRawUnsafe<unknown[]>(isLeavingSql, workspaceId)
  if (leaving !== undefined)
    throw new CommandError(
      'The deletion of the workspace was asked for: undo that first (workspaces keep). Nothing was changed.',
    )
  const [left] = await target.system.$queryRawUnsafe<unknown[]>(
    `${isLeavingSql} UNION ALL SELECT id FROM deleted_workspaces WHERE id = $1::uuid`,
    workspaceId,
  )
  if (left !== undefined)
    throw new CommandError(
      'The target has deleted this workspace, or it has moved away from there: it does not come back. Nothing was changed.',
    )
  if ((await readClosedAt(target.system, workspaceId)) !== null) return
  throw new CommandError(
    isClosed
      ? 'The workspace has moved: it is open in the target. Lead its requests there, then: npm run admin -- workspaces moved'
      : 'The workspace exists in the target already, and is open there. Nothing was changed.',
  )
}

async function untilQuiet(move: Move, closedAt: Date): Promise<void> {
  const endsAt = performance.now() + longestWaitMs
  while (!(await isQuiet(move, closedAt))) {
    if (performance.now() > endsAt) throw new Error(`Calls are in progress after ${longestWaitMs} ms`)
    await delay(lookMs)
  }
}

async function undo(move: Move, administrator: Administrator): Promise<void> {
  await openWorkspace(administrator, () => refuseOpening(move))
  await removeCopy(move)
}

function noteOpening(transaction: Transaction, { actor, workspaceId }: Administrator) {
  const entry = { action: 'workspace.updated', subject: workspaceId, details: { isClosed: false } }
  return transaction.auditEntry.create({ data: { id: newId(), workspaceId, actor, ...entry } })
}

/** Opens the workspace here again, and removes what the target has of it. */
export function reopenWorkspace(workspaceId: string): Promise<{ workspaceId: string }> {
  return useBoth(workspaceId, async (move, administrator) => {
    await undo(move, administrator).catch((error: Error) => {
      throw new CommandError(`${error.message}. Run the command again, or leave it as it is.`, {
        cause: error,
      })
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
  return useBoth(workspaceId, async (move, administrator) => {
    if ((await readClosedAt(move.target.system, workspaceId)) !== null)
      throw new CommandError('The workspace is not open in the target. Nothing was changed.')
    const closedAt = await closeWorkspace(administrator)
    const late = await copyLate(move, closedAt)
    const now = Date.now()
    const { faults } = await auditLedger(move.target as Database, {
      ...{ workspaceId, from: now - dayMs, to: now, keptSince: now - dayMs + 60_000, budgetMs: auditMs },
    })
    await deleteWorkspace(administrator, name, new Date(0))
    return { workspaceId, late, faults: faults.map(({ kind, count }) => `${count} × ${kind}`) }
  })
}

function say(sentence: string): void {
  console.error(sentence)
}
