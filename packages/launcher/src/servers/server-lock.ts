import { setTimeout as delay } from 'node:timers/promises'
import { tryLock } from '#lock-file'
import { CannotStart } from '../cannot-start.js'

// Longer than the servers of a killed launcher take to end.
const defaultTimeoutMs = 30_000

/**
 * Locks the data of a server. The server inherits the descriptor, so the lock lasts as long as any of its processes. It
 * holds over containers that share the directory, too: no other server works on the data.
 *
 * @param home the directory of the server
 * @param name of the server
 * @returns the descriptor
 * @throws CannotStart if another server works on the data
 */
export async function lockServer(home: string, name: string, timeoutMs = defaultTimeoutMs): Promise<number> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const descriptor = tryLock(`${home}/lock`, 'exclusive')
    if (descriptor !== undefined) return descriptor
    if (performance.now() > deadline)
      throw new CannotStart(`Another ${name} works on ${home}, perhaps in another container: stop it first`)
    await delay(50)
  }
}
