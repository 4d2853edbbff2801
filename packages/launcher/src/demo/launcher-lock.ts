import { closeSync, ftruncateSync, readFileSync, writeSync } from 'node:fs'
import { tryLock } from '#lock-file'
import { CannotStart } from '../cannot-start.js'

export interface LauncherLock {
  /** Whether the last launcher ended without releasing the directory. */
  wasKilled: boolean
  /** Releases the directory. Synchronous, so that it can run while the process exits. */
  unlock(): void
}

/**
 * Lets one launcher at a time work on a directory. The lock of a killed launcher has ended with it.
 *
 * @param file names the process that has the lock; it is empty while nobody has it
 * @throws CannotStart if another launcher has the lock
 */
export function lockDirectory(file: string): LauncherLock {
  const descriptor = tryLock(file, 'exclusive')
  const pid = readFileSync(file, 'utf8').trim()
  if (descriptor === undefined)
    throw new CannotStart(`The product is already running as process ${pid}: use that one, or stop it first`)
  ftruncateSync(descriptor)
  writeSync(descriptor, `${process.pid}\n`)
  let isLocked = true
  return {
    wasKilled: pid !== '',
    unlock() {
      if (!isLocked) return
      isLocked = false
      ftruncateSync(descriptor)
      closeSync(descriptor)
    },
  }
}
