import { chmod } from 'node:fs/promises'
import { canEnter, makeOpenDirectory, outsidePath, type ServerUser } from '../binaries/server-user.js'
import { printLine } from '../progress.js'

/**
 * The directory itself if the server's user can enter it, otherwise one outside (see `outsidePath`). Either exists
 * afterwards and belongs to the launcher's user: the server's user may enter it, but cannot list or change it.
 *
 * @param name of the server, for the line that names another directory
 */
export async function makeHome(
  directory: string,
  user: ServerUser | undefined,
  name: string,
): Promise<string> {
  await makeOpenDirectory(directory)
  if (user === undefined || (await canEnter(directory, user))) return closeHome(directory, user)
  const home = outsidePath(directory)
  await makeOpenDirectory(home)
  printLine(`${name} runs as ${user.name}, who cannot enter ${directory}. Its data is in ${home}`)
  return closeHome(home, user)
}

async function closeHome(home: string, user: ServerUser | undefined): Promise<string> {
  await chmod(home, user === undefined ? 0o700 : 0o711)
  return home
}
