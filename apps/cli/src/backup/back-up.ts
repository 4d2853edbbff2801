import { open, rename, rm } from 'node:fs/promises'
import { type Database, Prisma, readAppliedSql } from '@automation/database'
import { holdLeaves } from '@automation/ledger'
import { syncName } from '@automation/process/replace-file'
import { CommandError } from '../command-error.js'
import { readDocument } from '../read-document.js'
import { useDatabase } from '../use-database.js'
import { appendNote, type BackupNote } from './backup-note.js'
import { checkTool, runTool } from './postgres-tool.js'

/** A dump may take long. */
const dayMs = 24 * 60 * 60 * 1_000
export const longLimits = { statementMs: dayMs, transactionMs: dayMs }

export interface Backup extends Omit<BackupNote, 'automationBackup' | 'migrations'> {
  file: string
  tool: string
}

/**
 * Writes a backup:
 *
 *   leaves held ─▶ snapshot ─▶ versions, events, migrations ─▶ pg_dump of the same snapshot ─▶ pg_restore --list ─▶ note ─▶ its name
 *
 * Whatever ends it before the last step leaves no file of that name.
 *
 * @throws CommandError if a check fails
 */
export async function backUp(file: string): Promise<Backup> {
  const unfinished = `${file}.partial`
  await refuseExisting(file, 'choose another name')
  return useDatabase(
    'read',
    async ({ database }) => {
      await refuseEmpty(database)
      return database.system.$transaction(
        async (transaction) => {
          const state = await readState(transaction)
          const tool = await checkTool('pg_dump', state.server)
          await checkTool('pg_restore', state.server)
          await makePrivate(unfinished)
          try {
            await runTool('pg_dump', [
              '--format=custom',
              `--snapshot=${state.snapshot}`,
              `--file=${unfinished}`,
            ])
            await checkList(unfinished)
            const { takenAt, events, migrations, serverText: server } = state
            const { info } = await readDocument<{ info: { version: string } }>('openapi.json')
            const about = { program: info.version, takenAt, server, events, migrations }
            const { automationBackup: _, migrations: __, ...note } = await appendNote(unfinished, about)
            await finish(unfinished, file)
            return { file, tool, ...note }
          } finally {
            await rm(unfinished, { force: true })
          }
        },
        { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead, timeout: dayMs },
      )
    },
    longLimits,
  )
}

interface State {
  snapshot: string
  server: number
  serverText: string
  takenAt: string
  events: number
  migrations: BackupNote['migrations']
}

async function refuseEmpty({ system }: Database): Promise<void> {
  const [known] = await system.$queryRaw<{ hasEvents: boolean; name: string }[]>`
    SELECT to_regclass('events') IS NOT NULL AS "hasEvents", current_database() AS name`
  if (!known?.hasEvents)
    throw new CommandError(
      `The database ${known?.name} has no tables of this service: there is nothing to back up.`,
    )
}

async function readState(transaction: Prisma.TransactionClient): Promise<State> {
  await holdLeaves(transaction)
  const [found] = await transaction.$queryRaw<[Omit<State, 'events' | 'migrations'>]>`
    SELECT pg_export_snapshot() AS snapshot, current_setting('server_version_num')::int AS server,
      current_setting('server_version') AS "serverText",
      to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "takenAt"`
  const events = await transaction.event.count()
  return { ...found, events, migrations: await transaction.$queryRawUnsafe(readAppliedSql) }
}

async function refuseExisting(file: string, advice: string): Promise<void> {
  const handle = await open(file, 'r').catch(() => undefined)
  await handle?.close()
  if (handle !== undefined) throw new CommandError(`${file} exists already: ${advice}.`)
}

/** For this user alone from its first byte on. */
async function makePrivate(file: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EEXIST'
        ? 'another backup is writing it, or one was killed; if none is running, remove it'
        : error.message
    throw new CommandError(`${file} cannot be written: ${reason}.`, { cause: error })
  })
  await handle.close()
}

async function checkList(file: string): Promise<void> {
  const list = await runTool('pg_restore', ['--list', file])
  if (!/ TABLE DATA history events_high /.test(list))
    throw new CommandError('The dump has no events table. It was removed; the database was not changed.')
}

async function finish(unfinished: string, file: string): Promise<void> {
  await rename(unfinished, file)
  await syncName(file)
}
