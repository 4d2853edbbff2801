import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { markRestored } from '@automation/access'
import { type Database, findMissing, listMigrations, migrate, OtherTables } from '@automation/database'
import { type Audit, auditLedger } from '@automation/ledger'
import { CommandError } from '../command-error.js'
import { readDatabaseUrl } from '../config.js'
import { nameConnections, useDatabase } from '../use-database.js'
import { longLimits } from './back-up.js'
import { type BackupNote, readBackup } from './backup-note.js'
import { checkTool, runTool } from './postgres-tool.js'
import { applicationName, checkRedis, checkTarget, findOthers } from './target.js'

export interface Restoration {
  events: number
  takenAt: string
  /** Migrations that were applied to it, if it was made by an older program. */
  migrated: string[]
  reconciledSince: string
  /** What is wrong with it, in sentences; empty if all is well. */
  faults: string[]
  /** What the operator has to look at. */
  notes: string[]
}

/**
 * Restores a backup into an empty database:
 *
 *   file, program, Redis, database, tools ─▶ pg_restore in one transaction ─▶ workers paused ─▶ list of migrations ─▶ new migrations ─▶ count ─▶ reconciliation
 *
 * Until the commit of pg_restore the database stays empty, whatever ends it. From then on no process starts, since the database has no list of migrations;
 * and when it has one, workers are paused.
 *
 * @throws CommandError if a check fails before that
 */
export async function restore(file: string): Promise<Restoration> {
  const note = await readBackup(file)
  await checkProgram(note)
  const unseen = await checkRedis()
  return useDatabase(
    'change',
    async ({ database }) => {
      const server = await checkTarget(database)
      await checkTool('pg_restore', server)
      const entries = (await runTool('pg_restore', ['--list', file])).split('\n')
      say(`Restoring ${note.events} events of ${note.takenAt} …`)
      await load(
        file,
        entries.filter((entry) => !isListOfMigrations(entry)),
      )
      await markRestored(database, note.takenAt)
      await load(file, entries.filter(isListOfMigrations))
      const migrated = await migrateToThis()
      await analyze(database)
      const events = await database.system.event.count()
      say('Reconciling …')
      const { from, faults } = await reconcile(database, note)
      return {
        events,
        takenAt: note.takenAt,
        migrated,
        reconciledSince: new Date(from).toISOString(),
        faults: [
          ...(events === note.events
            ? []
            : [`The backup has ${note.events} events, and the database has ${events}.`]),
          ...faults.map(
            ({ kind, count, ids }) => `The reconciliation found ${count} × ${kind}: ${ids.join(', ')}`,
          ),
          ...(await findOthers(database)).map((one) => `Meanwhile ${one} has connected to the database.`),
        ],
        notes: [...(await noteDeletions(database)), ...(unseen === undefined ? [] : [unseen])],
      }
    },
    { ...longLimits, applicationName },
  )
}

const maxNamed = 10

/** Somebody may have undone a deletion since the backup: the first workers that start would go on with it. */
async function noteDeletions({ system }: Database): Promise<string[]> {
  const where = { deletesAt: { not: null }, deletedAt: null }
  const count = await system.workspace.count({ where })
  const leaving = await system.workspace.findMany({ where, orderBy: { deletesAt: 'asc' }, take: maxNamed })
  return [
    ...leaving.map(
      ({ id, name, deletesAt }) =>
        `A worker deletes ${name} (${id}) on ${deletesAt?.toISOString()}, or soon after it starts. If that was undone since the backup: npm run admin -- workspaces keep ${id}, before you start workers.`,
    ),
    ...(count > maxNamed
      ? [`It deletes ${count - maxNamed} more: npm run -s admin -- workspaces list --json names them.`]
      : []),
  ]
}

/** @throws CommandError if the backup is of a newer program, or of one before the first release */
async function checkProgram({ migrations, program }: BackupNote): Promise<void> {
  const known = await listMigrations()
  const unknown = migrations.map(({ name }) => name).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new CommandError(
      `The backup was made by version ${program}, with migrations that this version does not know (${unknown.join(', ')}): nothing was changed. Restore it with version ${program} or newer.`,
    )
  await findMissing(migrations).catch((error: Error) => {
    if (!(error instanceof OtherTables)) throw error
    throw new CommandError(
      'The backup was made by a development version from before the first release: nothing was changed.',
      { cause: error },
    )
  })
}

const isListOfMigrations = (entry: string) => / TABLE DATA \S+ _prisma_migrations /.test(entry)

/**
 * Owners and rights are those of the user that restores: the roles of the old server may not exist here.
 *
 * @param entries of its list
 */
async function load(file: string, entries: string[]): Promise<void> {
  const { pathname } = new URL(readDatabaseUrl().databaseUrl)
  const directory = await mkdtemp(join(tmpdir(), 'automation-restore-'))
  try {
    await writeFile(`${directory}/list`, entries.join('\n'))
    await runTool(
      'pg_restore',
      [
        ...['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges'],
        ...[`--use-list=${directory}/list`, `--dbname=${decodeURIComponent(pathname.slice(1))}`, file],
      ],
      applicationName,
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const filledSql = `
  SELECT string_agg(oid::regclass::text, ', ') AS tables FROM pg_class
  WHERE relkind = 'r' AND relnamespace IN (current_schema()::regnamespace, 'history'::regnamespace) AND pg_relation_size(oid) > 0`

/**
 * A dump may have no statistics, without which Postgres reads whole tables. As autovacuum does it: for a leaf that is known to be empty Postgres would go on
 * reading all of it when it is filled, and partitioned tables have no statistics of their own.
 */
async function analyze({ system }: Database): Promise<void> {
  const [filled] = await system.$queryRawUnsafe<{ tables: string | null }[]>(filledSql)
  if (filled?.tables) await system.$executeRawUnsafe(`ANALYZE ${filled.tables}`)
}

async function migrateToThis(): Promise<string[]> {
  try {
    return await migrate(nameConnections(readDatabaseUrl().databaseUrl, applicationName), { say })
  } catch (error) {
    throw new CommandError(
      `The backup was restored, but not migrated: ${(error as Error).message}. Mend that, then restore into another empty database.`,
      { cause: error },
    )
  }
}

const hourMs = 60 * 60 * 1_000
/** Every workspace keeps its history for a day or longer: of older rows some may be gone, which is no fault. */
const keptMs = 23 * hourMs
/** Of each snapshot of the reconciliation. */
const budgetMs = 2_000

/** Reconciles the last day before the backup, over all workspaces. */
async function reconcile(
  database: Database,
  { takenAt }: BackupNote,
): Promise<Pick<Audit, 'from' | 'faults'>> {
  const end = Date.parse(takenAt)
  const from = end - keptMs
  const faults: Audit['faults'] = []
  // Ids may carry the time of a clock that goes before that of Postgres.
  for (let to = end + hourMs; to > from; ) {
    const audit = await auditLedger(database, { workspaceId: undefined, from, to, keptSince: from, budgetMs })
    faults.push(...audit.faults)
    to = audit.from
  }
  return { from, faults }
}

function say(sentence: string): void {
  console.error(sentence)
}
