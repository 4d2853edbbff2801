import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** Finds all addresses of a host name. @throws Error where there is none, by its promise */
export type ResolveHost = (hostname: string) => Promise<string[]>

const hostsFileTtlMs = 5_000

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
