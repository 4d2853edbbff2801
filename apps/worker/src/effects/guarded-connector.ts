import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard } from './address-guard.js'
import type { ResolveHost } from './create-resolver.js'

/** @param signal ends the attempt in any phase */
export type Connect = (target: buildConnector.Options, signal: AbortSignal) => Promise<Socket>

/** How long (ms) one address is tried before the next one. */
const attemptTimeoutMs = 1_000

/**
 * Creates a function that connects to no address that the guard refuses. There are three checks, since each alone can be bypassed:
 *
 * 1. A literal address never reaches the resolver, so it is checked here.
 * 2. A resolver may respond differently the second time. So every address of its first response is checked, and the socket may
 *    connect to no other.
 * 3. The peer's address is checked before any byte is sent, the TLS handshake included.
 *
 * @throws RefusedCall, by its promise
 */
export function createGuardedConnector(guard: AddressGuard, resolveHost: ResolveHost): Connect {
  // The signal ends a connection that is not established in time.
  const secure = buildConnector({ timeout: 0 })

  return async (target, signal) => {
    const addresses = await findAddresses(target.hostname)
    signal.throwIfAborted()
    const isHttp = target.protocol === 'http:'
    const socket = connect({
      host: target.hostname,
      port: Number(target.port || (isHttp ? 80 : 443)),
      lookup: pinTo(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
      noDelay: true,
      signal,
    })
    // Each waiter has its own listener. Without this one, an error between two waiters would end the process.
    socket.on('error', () => {})
    await once(socket, 'connect')
    checkPeer(socket, target.hostname)
    if (isHttp) return socket
    return new Promise((resolve, reject) => {
      secure({ ...target, httpSocket: socket }, (error, secured) =>
        error ? reject(error) : resolve(secured),
      )
    })
  }

  async function findAddresses(hostname: string): Promise<string[]> {
    if (isIP(hostname) !== 0) {
      guard.checkAddress(hostname, hostname)
      return [hostname]
    }
    const addresses = await resolveHost(hostname)
    for (const address of addresses) guard.checkAddress(address, hostname)
    return addresses
  }

  function checkPeer(socket: Socket, hostname: string): void {
    try {
      if (socket.remoteAddress === undefined) throw new Error('The connection was closed immediately')
      guard.checkAddress(socket.remoteAddress, hostname)
    } catch (error) {
      socket.destroy()
      throw error
    }
  }
}

/** A lookup that always returns these addresses. */
function pinTo(addresses: string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, _options, callback) => callback(null, pinned)
}
