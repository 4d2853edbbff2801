import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard } from './address-guard.js'

/** Finds all addresses of a host name. @throws Error where there is none, by its promise */
export type ResolveHost = (hostname: string) => Promise<string[]>

/** @param signal ends the attempt in any phase */
export type Connect = (target: buildConnector.Options, signal: AbortSignal) => Promise<Socket>

/** How long (ms) one address is tried before the next one. */
const attemptTimeoutMs = 1_000
/** How long (ms) the hosts file is kept. */
const hostsFileTtlMs = 5_000

/**
 * Creates a function that connects to no address that the guard refuses. There are three checks, since each alone can be bypassed:
 *
 * 1. A literal address never reaches the resolver, so it is checked here.
 * 2. A resolver may respond differently the second time. So every address of its first response is checked, and the socket may
 *    connect to no other.
 * 3. The peer's address is checked before any byte is sent, the TLS handshake included.
 *
 * @throws Refusal, by its promise
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
      if (socket.remoteAddress === undefined) throw new Error('The connection was closed at once')
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

/**
 * Creates a resolver that reads the hosts file, then asks the DNS servers of this machine. It does not use the system's resolver
 * (`dns.lookup`): Node makes those calls two at a time, for Postgres and Redis too, so a few names whose servers never
 * respond would block all other lookups.
 *
 * @param servers DNS servers as `address:port`, instead of the machine's
 */
export function createResolver(servers?: string[], hostsFile = '/etc/hosts'): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  let hosts: Promise<Map<string, string[]>> | undefined
  let readAt = 0

  function findInFile(name: string): Promise<string[] | undefined> {
    const now = performance.now()
    if (hosts === undefined || now - readAt > hostsFileTtlMs) {
      readAt = now
      hosts = readHostsFile(hostsFile)
    }
    return hosts.then((addresses) => addresses.get(name))
  }

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1']
    const listed = await findInFile(name)
    if (listed) return listed
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length === 0) throw new Error(`No address of ${hostname}: ${describeFailure(results)}`)
    return addresses
  }
}

function describeFailure(results: PromiseSettledResult<unknown>[]): string {
  const [code = 'ENODATA'] = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as NodeJS.ErrnoException).code] : [],
  )
  return code
}

async function readHostsFile(path: string): Promise<Map<string, string[]>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    for (const name of names) {
      const key = name.toLowerCase()
      hosts.set(key, [...(hosts.get(key) ?? []), address])
    }
  }
  return hosts
}
