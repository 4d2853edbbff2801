import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart } from '../cannot-start.js'
import { startGuard } from './guard.js'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface RunningProcess {
  name: string
  pid: number
  /** Path of the file with the output of the process. */
  log: string
  exited: Promise<Exit>
  hasExited(): boolean
  kill(signal: NodeJS.Signals): void
  /** Asks the process to end, forces it after 30 s, and waits until it is gone. Safe to call twice or on a dead process. */
  stop(): Promise<void>
}

export interface ProcessOptions {
  name: string
  command: string
  args: string[]
  /** Path of the file for stdout and stderr. An older file is kept as `….1`, to show how the last run ended. */
  log: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  user?: { uid: number; gid: number } | undefined
  /** Opens a channel for `process.send`. */
  channel?: boolean
  signals?: { stop: NodeJS.Signals; force: NodeJS.Signals }
  /** The lock on the data of a server (`lockServer`), which it inherits. A server also gets a guard. */
  lock?: number
}

// Longer than API and worker take to finish their work in progress.
const stopTimeoutMs = 30_000
const readinessTimeoutMs = 60_000

/**
 * Starts a program in its own process group: a Ctrl-C in the terminal reaches only the launcher, which then stops
 * everything in the right order. When the launcher exits normally, the program is killed with it.
 */
export async function runProcess(
  options: ProcessOptions,
): Promise<{ child: ChildProcess; running: RunningProcess }> {
  const { name, log, lock, user, signals = { stop: 'SIGTERM', force: 'SIGKILL' } } = options
  await rename(log, `${log}.1`).catch(() => {})
  const output = openSync(log, 'w', 0o600)
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: [
      'ignore',
      output,
      output,
      ...(options.channel ? (['ipc'] as const) : []),
      ...(lock === undefined ? [] : [lock]),
    ],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  })
  closeSync(output)
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  await once(child, 'spawn')
  const forceDown = () => child.kill(signals.force)
  process.setMaxListeners(process.getMaxListeners() + 1)
  process.once('exit', forceDown)
  const endGuard = lock === undefined ? undefined : startGuard(child.pid as number, signals.stop)
  void exited.then(() => {
    endGuard?.()
    process.removeListener('exit', forceDown)
    process.setMaxListeners(process.getMaxListeners() - 1)
  })
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  const kill = (signal: NodeJS.Signals) => void child.kill(signal)

  async function stop(): Promise<void> {
    if (hasExited()) return
    kill(signals.stop)
    // A paused process reacts to no other signal.
    kill('SIGCONT')
    const timer = setTimeout(forceDown, stopTimeoutMs)
    await exited
    clearTimeout(timer)
  }
  return { child, running: { name, pid: child.pid as number, log, exited, hasExited, kill, stop } }
}

/**
 * Waits until a process is ready.
 *
 * @throws CannotStart with the end of its log if the process ends first, or is not ready within a minute and is stopped
 */
export async function waitUntilReady(
  running: RunningProcess,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + readinessTimeoutMs
  while (!(await isReady())) {
    if (running.hasExited()) {
      throw new CannotStart(
        `${running.name} ended before it was ready. Its last output:\n${await readTail(running.log)}`,
      )
    }
    if (performance.now() > deadline) {
      await running.stop()
      throw new CannotStart(
        `${running.name} was not ready within a minute. Its last output:\n${await readTail(running.log)}`,
      )
    }
    await delay(15)
  }
}

/** The last lines of a log file. */
export async function readTail(file: string, lines = 20): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n') || '(nothing)'
}
