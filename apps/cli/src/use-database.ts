import { userInfo } from 'node:os'
import { type Administrator, Refused } from '@automation/access'
import { type Database, isDatabaseAway, isTableMissing, openDatabase } from '@automation/database'
import { CommandFault } from './command-fault.js'
import { readDatabaseUrl } from './config.js'
import { maskControls } from './format.js'

/** @throws CommandFault where a change is refused, or the database is away or not migrated */
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

/** The same within a workspace. @throws CommandFault where it does not exist, too */
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
 * The same within the workspace that an API key or a signing secret belongs to: whoever hears of a leaked one knows its
 * id, and not always its workspace.
 *
 * @param workspaceId the one that it has to belong to; undefined where any will do
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
      throw new CommandFault(`There is no ${noun} ${id}${workspaceId ? ` in workspace ${workspaceId}` : ''}.`)
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
    throw new CommandFault(`There is no workspace ${id}: npm run admin -- workspaces list shows them.`)
}

function readUserName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container a process may run as a user that has no name.
    return `${process.getuid?.()}`
  }
}

function explainError(error: unknown, databaseUrl: string): unknown {
  if (error instanceof Refused) return new CommandFault(`${maskControls(error.message)}.`, { cause: error })
  if (isTableMissing(error))
    return new CommandFault('The database has not been migrated: run npm run migrate first.', {
      cause: error,
    })
  if (isDatabaseAway(error))
    return new CommandFault(
      `Postgres at ${new URL(databaseUrl).host || 'localhost'} does not let us in: is it running, and are user, password and database right?`,
      { cause: error },
    )
  return error
}
