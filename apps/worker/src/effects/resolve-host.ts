import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** All addresses of a host name. @throws Error where nobody knows one */
export type ResolveHost = (hostname: string) => Promise<string[]>

const hostsFileTtlMs = 5_000

/**
 * Asks the hosts file, then the DNS servers of this machine. Not the system's own resolver (`dns.lookup`): Node makes its
 * calls two at a time, for Postgres and Redis too, so a few names whose servers never answer would hold up everybody.
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
    const known = await findInFile(name)
    if (known) return known
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0) throw new Error(`No address of ${hostname}: ${describeFailure(answers)}`)
    return addresses
  }
}

function describeFailure(answers: PromiseSettledResult<unknown>[]): string {
  const [code = 'ENODATA'] = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [(answer.reason as NodeJS.ErrnoException).code] : [],
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
