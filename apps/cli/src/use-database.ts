import { userInfo } from 'node:os'
import { type Administrator, Refused } from '@automation/access'
import { type Database, isDatabaseAway, isTableMissing, openDatabase } from '@automation/database'
import { CommandError } from './command-error.js'
import { readDatabaseUrl } from './config.js'
import { maskControls } from './format.js'

/** @throws CommandError if a change is refused, or if the database is unavailable or not migrated */
export async function useDatabase<Result>(
  work: (administrator: Pick<Administrator, 'database' | 'actor'>) => Promise<Result>,
): Promise<Result> {
  const databaseUrl = readDatabaseUrl()
  const database = openDatabase(databaseUrl, 1)
  try {
    return await work({ database, actor: `cli:${readUserName()}` })
  } catch (error) {
    throw explainError(error, databaseUrl)
  } finally {
    await database.close()
  }
}

/** The same within a workspace. @throws CommandError if the workspace does not exist, too */
export function useWorkspace<Result>(
  workspaceId: string,
  work: (administrator: Administrator) => Promise<Result>,
): Promise<Result> {
  return useDatabase(async ({ database, actor }) => {
    await checkWorkspace(database, workspaceId)
    return work({ database, actor, workspaceId })
  })
}

/**
 * The same within the workspace that owns an API key or a signing secret. The finder of a leaked one knows its id, but
 * not always its workspace.
 *
 * @param workspaceId the workspace that must own it; undefined accepts any
 */
export function useWorkspaceOf<Result>(
  noun: keyof typeof ownedNouns,
  id: string,
  workspaceId: string | undefined,
  work: (administrator: Administrator) => Promise<Result>,
): Promise<Result> {
  return useDatabase(async ({ database, actor }) => {
    const owner = await ownedNouns[noun](database, id)
    if (owner === null || (workspaceId ?? owner.workspaceId) !== owner.workspaceId)
      throw new CommandError(`There is no ${noun} ${id}${workspaceId ? ` in workspace ${workspaceId}` : ''}.`)
    return work({ database, actor, workspaceId: owner.workspaceId })
  })
}

const ownedNouns: Record<
  'API key' | 'signing secret',
  (database: Database, id: string) => Promise<{ workspaceId: string } | null>
> = {
  'API key': ({ system }, id) => system.apiKey.findUnique(ownerOf(id)),
  'signing secret': ({ system }, id) => system.signingSecret.findUnique(ownerOf(id)),
}

function ownerOf(id: string) {
  return { where: { id }, select: { workspaceId: true } } as const
}

async function checkWorkspace(database: Database, id: string): Promise<void> {
  if ((await database.system.workspace.count({ where: { id } })) === 0)
    throw new CommandError(
      `There is no workspace ${id}. To list all workspaces: npm run admin -- workspaces list`,
    )
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
  if (error instanceof Refused) return new CommandError(`${maskControls(error.message)}.`, { cause: error })
  if (isTableMissing(error))
    return new CommandError('The database has not been migrated: run npm run migrate first.', {
      cause: error,
    })
  if (isDatabaseAway(error))
    return new CommandError(
      `Cannot connect to Postgres at ${new URL(databaseUrl).host || 'localhost'}. Check that it is running, and that user, password and database are right.`,
      { cause: error },
    )
  return error
}
