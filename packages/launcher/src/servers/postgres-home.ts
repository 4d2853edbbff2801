import { canEnter, makeOpenDirectory, outsidePath, type ServerUser } from '../binaries/server-user.js'
import { printLine } from '../progress.js'

/**
 * The directory itself if the server's user can enter it, otherwise one outside (see `outsidePath`).
 * Either exists afterwards.
 */
export async function makeHome(directory: string, user: ServerUser | undefined): Promise<string> {
  await makeOpenDirectory(directory)
  if (user === undefined || (await canEnter(directory, user))) return directory
  const home = outsidePath(directory)
  await makeOpenDirectory(home)
  printLine(`Postgres runs as ${user.name}, who cannot enter ${directory}. Its data is in ${home}`)
  return home
}
