import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { Stage } from './disaster.js'
import { MissingProgram } from './servers/programs.js'

const run = promisify(execFile)

/** What a disaster in a network of its own needs. */
export const ownNetworkPrograms = ['unshare', 'ip', 'nft', 'mount'] as const

/**
 * Runs this program again, with all servers and processes that it starts, in namespaces of its own for network and mounts: the rules that
 * drop packets there touch no other program, and end with it.
 *
 * @param command the file and its arguments
 * @returns its exit code
 */
export async function runInOwnNetwork({ unshare }: Stage['programs'], command: string[]): Promise<number> {
  if (process.getuid?.() !== 0) throw new MissingProgram('A network of its own needs root: run this as root.')
  const args = ['--net', '--mount', process.execPath, ...command, '--inside']
  const child = spawn(unshare, args, { stdio: 'inherit' })
  process.once('exit', () => child.kill())
  const [code] = await once(child, 'exit')
  return code ?? 1
}

/** Nothing else is in the new network than 127.0.0.1, and that is off. */
export async function enterOwnNetwork({ ip }: Stage['programs']): Promise<void> {
  await run(ip, ['link', 'set', 'lo', 'up'])
}
