import { fork } from 'node:child_process'
import { watcher } from '../entries.js'
import { printLine } from '../progress.js'
import { whenAborted } from './interrupts.js'

/** What came of an edit: the directories of the programs that are others now, or what is wrong with a source. */
export type Edit = { changed: string[]; seconds: number; fault?: undefined } | { fault: string }

/** Follows the sources, whose modules are compiled again after each edit, until the signal. One edit is applied after the other. */
export async function followEdits(signal: AbortSignal, apply: (edit: Edit) => Promise<void>): Promise<void> {
  if (signal.aborted) return
  const child = fork(watcher, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  signal.addEventListener('abort', () => child.kill())
  let last = Promise.resolve()
  child.once('message', () =>
    printLine('\nWatching: an edit is compiled, and what it changes is started again.'),
  )
  child.on('message', (edit: Edit) => {
    last = last.then(() => (signal.aborted ? undefined : apply(edit)))
  })
  await ended
  await last
  if (!signal.aborted)
    printLine('The program that watches has ended, and edits change nothing: stop, and start again.')
  await whenAborted(signal)
}
