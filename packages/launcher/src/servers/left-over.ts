import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const stopTimeoutMs = 15_000
// A process of another user cannot be killed: the server's lock will say so.
const killTimeoutMs = 5_000

/**
 * Stops the server that a killed launcher left behind. Another program may have reused the pid in its file, so the
 * process's command line must contain the mark.
 *
 * @param pidFile has the pid in its first line; it need not exist
 * @param mark a part of the server's command line that no other program has
 */
export async function stopLeftOver(pidFile: string, mark: string, signal: NodeJS.Signals): Promise<void> {
  const pid = await readPid(pidFile)
  if (pid === undefined || !(await hasMark(pid, mark))) return
  sendSignal(pid, signal)
  // A paused process reacts to no other signal.
  sendSignal(pid, 'SIGCONT')
  const deadline = performance.now() + stopTimeoutMs
  while (await hasMark(pid, mark)) {
    if (performance.now() > deadline + killTimeoutMs) return
    if (performance.now() > deadline) sendSignal(pid, 'SIGKILL')
    await delay(20)
  }
}

/** The pid in the first line of a file, or undefined if there is none. */
export async function readPid(file: string): Promise<number | undefined> {
  const line = (await readFile(file, 'utf8').catch(() => '')).split('\n', 1)[0]
  const pid = Number(line)
  return Number.isInteger(pid) && pid > 1 ? pid : undefined
}

/** The command line of a live process, or undefined if the process is gone, or is dead and not yet reaped. */
export async function readCommand(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return command === '' ? undefined : command.replaceAll('\0', ' ')
  }
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-p', `${pid}`, '-o', 'command=']).catch(() => ({
    stdout: '',
  }))
  return stdout.trim() === '' ? undefined : stdout
}

async function hasMark(pid: number, mark: string): Promise<boolean> {
  return (await readCommand(pid))?.includes(mark) ?? false
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime, which is the goal.
  }
}
