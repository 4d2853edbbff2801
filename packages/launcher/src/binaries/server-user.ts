import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface ServerUser {
  name: string
  uid: number
  gid: number
}

/**
 * The user that runs Postgres and Redis if the launcher runs as root: `postgres`, or else `nobody`. Postgres refuses to run
 * as root, and a fault in Redis would be root's.
 *
 * @returns undefined for every other user, who runs them as themselves, and if there is no such user
 */
export async function findServerUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined)
    if (ids !== undefined) return { name, uid: Number(ids[0]?.stdout), gid: Number(ids[1]?.stdout) }
  }
  return undefined
}

/** Whether the user may enter the directory and every directory above it. */
export async function canEnter(directory: string, user: ServerUser): Promise<boolean> {
  const { mode, uid, gid } = await stat(directory)
  const execute = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  if ((mode & execute) === 0) return false
  return directory === dirname(directory) || canEnter(dirname(directory), user)
}

/**
 * The directory that replaces one which the server's user cannot enter, such as a clone below root's 0700 home.
 * It lies in /var/lib and not in /var/tmp: only root can plant something there, and no cleaner empties it.
 */
export function outsidePath(origin: string): string {
  return `/var/lib/automation-rules/${createHash('sha256').update(origin).digest('hex').slice(0, 16)}`
}

/** Creates the missing directories of a path so that everybody may pass through them, whatever the umask. */
export async function makeOpenDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  for (let made = directory; made.startsWith(first); made = dirname(made)) await chmod(made, 0o755)
}
