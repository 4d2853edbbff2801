import { execFile } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { findServerUser } from '@automation/launcher'

const run = promisify(execFile)

/** Hands a file or directory to the user that servers run as. */
export async function giveToServers(path: string): Promise<void> {
  const user = await findServerUser()
  if (user !== undefined) await chown(path, user.uid, user.gid)
}

/** Runs a program of a server to its end, as the user that servers run as. @throws with its last words */
export async function runAsServer(program: string, args: string[], directory: string): Promise<string> {
  const user = await findServerUser()
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
  const { stdout, stderr } = await run(program, args, { cwd: directory, env, ...identity })
  return stdout + stderr
}
