import { userInfo } from 'node:os'
import { type Administrator, Refused } from '@automation/access'
import {
  type Database,
  type DatabaseLimits,
  databaseLimitsOf,
  describeDatabaseError,
  isDatabaseAway,
  isTableMissing,
  openDatabase,
} from '@automation/database'
import { readUrl } from '@automation/process/settings'
import { CommandError } from './command-error.js'
import { readDatabaseUrl } from './config.js'
import { maskControls } from './format.js'

/** A command that changes something shows first where it does that. */
export type Purpose = 'read' | 'change'

/** @throws CommandError if a change is refused, or if the database is unavailable or not migrated */
export function useDatabase<Result>(
  purpose: Purpose,
  work: (administrator: Pick<Administrator, 'database' | 'actor'>) => Promise<Result>,
  options?: ConnectionOptions,
): Promise<Result> {
  return connect(({ target, ...administrator }) => {
    if (purpose === 'change') showTarget(target, undefined, options)
    return work(administrator)
  }, options)
}

/** The same within a workspace. @throws CommandError if the workspace does not exist, too */
export function useWorkspace<Result>(
  purpose: Purpose,
  workspaceId: string,
  work: (administrator: Administrator) => Promise<Result>,
  options?: ConnectionOptions,
): Promise<Result> {
  return connect(async ({ target, ...administrator }) => {
    const { name } = await findWorkspace(administrator.database, workspaceId)
    if (purpose === 'change') showTarget(target, { id: workspaceId, name }, options)
    return work({ ...administrator, workspaceId })
  }, options)
}

/** Of what takes longer than other commands, or has to be told from others in the list of connections. */
interface ConnectionOptions extends Partial<DatabaseLimits> {
  applicationName?: string
  /** How many connections, a third of them for transactions; by default one of each. */
  pool?: number
  /** What it is for the command, where there are two; by default its target. */
  role?: 'From' | 'To'
  /** Another database than that of DATABASE_URL. */
  from?: ReturnType<typeof readDatabaseUrl>
}

interface Connection extends Pick<Administrator, 'database' | 'actor'> {
  /** The database, in words. */
  target: string
}

async function connect<Result>(
  work: (connection: Connection) => Promise<Result>,
  { applicationName, from, role: _, pool = 1, ...limits }: ConnectionOptions = {},
): Promise<Result> {
  const { databaseUrl, source } = from ?? readDatabaseUrl()
  const url = applicationName === undefined ? databaseUrl : nameConnections(databaseUrl, applicationName)
  const database = openDatabase(url, pool, { ...databaseLimitsOf(pool), ...limits })
  try {
    return await work({
      database,
      actor: `cli:${readUserName()}`,
      target: describeDatabase(databaseUrl, source),
    })
  } catch (error) {
    throw explainError(error, databaseUrl)
  } finally {
    await database.close()
  }
}

/** As Postgres lists them. */
export function nameConnections(databaseUrl: string, applicationName: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', applicationName)
  return url.href
}

/** On stderr, so that the output stays as it is. */
function showTarget(
  database: string,
  workspace?: { id: string; name: string },
  { role = 'Target' }: { role?: string } = {},
): void {
  const place = workspace && `, workspace ${JSON.stringify(workspace.name)} (${workspace.id})`
  console.error(maskControls(`${role}: ${database}${place ?? ''}`))
}

/** Without user and password. */
function describeDatabase(databaseUrl: string, source: string): string {
  return `database ${readUrl(databaseUrl)?.pathname.slice(1)} on ${hostOf(databaseUrl)} (from ${source})`
}

function hostOf(databaseUrl: string): string {
  const { host = '', searchParams } = readUrl(databaseUrl) ?? {}
  return searchParams?.get('host') || host || 'localhost'
}

async function findWorkspace(database: Database, id: string): Promise<{ name: string }> {
  const workspace = await database.system.workspace.findUnique({
    where: { id, deletedAt: null },
    select: { name: true },
  })
  if (workspace === null)
    throw new CommandError(
      `There is no workspace ${id}. To list all workspaces: npm run admin -- workspaces list`,
    )
  return workspace
}

function readUserName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container, a process may run as a user without a name.
    return `${process.getuid?.()}`
  }
}

function explainError(error: unknown, databaseUrl: string): unknown {
  if (error instanceof CommandError) return error
  if (error instanceof Refused) return new CommandError(`${maskControls(error.message)}.`, { cause: error })
  if (isTableMissing(error))
    return new CommandError('The database has not been migrated: run npm run migrate first.', {
      cause: error,
    })
  if (isDatabaseAway(error))
    return new CommandError(
      `Cannot connect to Postgres at ${hostOf(databaseUrl)}: ${describeDatabaseError(error)}. Check that it is running, and that user, password, database and TLS are right.`,
      { cause: error },
    )
  return error
}
