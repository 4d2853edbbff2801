import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard } from './address-guard.js'
import type { ResolveHost } from './resolve-host.js'

/** @param signal ends it, whatever it is at */
export type Connect = (target: buildConnector.Options, signal: AbortSignal) => Promise<Socket>

/** For how long (ms) one address is tried while there is another. */
const attemptTimeoutMs = 1_000

/**
 * Connects to no address that the guard refuses. Three looks, since each alone can be passed: a literal address never asks
 * the resolver; a resolver may answer otherwise the second time, so all that it answered the first time has to be right, and
 * nothing else is connected to; and the peer is who it is, so not even a TLS greeting is sent before its address was seen.
 *
 * @throws Refusal, by its promise
 */
export function createGuardedConnector(guard: AddressGuard, resolveHost: ResolveHost): Connect {
  // The signal is what ends a connection that does not come about.
  const secure = buildConnector({ timeout: 0 })

  return async (target, signal) => {
    const addresses = await findAddresses(target.hostname)
    signal.throwIfAborted()
    const isPlain = target.protocol === 'http:'
    const socket = connect({
      host: target.hostname,
      port: Number(target.port || (isPlain ? 80 : 443)),
      lookup: pinTo(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
      noDelay: true,
      signal,
    })
    // Whoever waits for it is told by its own listener; without this one, a fault between two of them would end the process.
    socket.on('error', () => {})
    await once(socket, 'connect')
    checkPeer(socket)
    if (isPlain) return socket
    return new Promise((resolve, reject) => {
      secure({ ...target, httpSocket: socket }, (error, secured) =>
        error ? reject(error) : resolve(secured),
      )
    })
  }

  async function findAddresses(hostname: string): Promise<string[]> {
    if (isIP(hostname) !== 0) {
      guard.checkAddress(hostname)
      return [hostname]
    }
    const addresses = await resolveHost(hostname)
    for (const address of addresses) guard.checkAddress(address)
    return addresses
  }

  function checkPeer(socket: Socket): void {
    try {
      if (socket.remoteAddress === undefined) throw new Error('The connection was closed at once')
      guard.checkAddress(socket.remoteAddress)
    } catch (error) {
      socket.destroy()
      throw error
    }
  }
}

/** A resolver that knows one answer. */
function pinTo(addresses: string[]): LookupFunction {
  const answer = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, _options, callback) => callback(null, answer)
}
