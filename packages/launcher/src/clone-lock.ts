import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { tryLock } from '#lock-file'

const file = fileURLToPath(new URL('../../../../.bootstrap.lock', import.meta.url))
let isHeld = false

/**
 * Keeps scripts/bootstrap.mjs from installing packages or building in this clone as long as this process lives: it would
 * replace files that running processes have yet to load. Waits for the end of an installation or a build.
 */
export async function holdClone(): Promise<void> {
  while (!isHeld) {
    // The lock ends with this process.
    isHeld = tryLock(file, 'shared') !== undefined
    if (!isHeld) await delay(100)
  }
}
