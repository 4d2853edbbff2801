import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { listNames, readResolvConf } from './read-resolv-conf.js'

/** Finds all addresses of a host name. @throws Error where there is none, by its promise */
export type ResolveHost = (hostname: string) => Promise<string[]>

/** How long (ms) the content of a file is kept. */
const fileTtlMs = 5_000
/** There is no such name. */
const notFound = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/**
 * Creates a resolver that reads the hosts file, then asks the DNS servers of this machine. It finds what other programs of this machine
 * find, short names included. It does not use the system's resolver (`dns.lookup`): Node makes those calls two at a time, for Postgres
 * and Redis too, so a few names whose servers never respond would block all other lookups.
 */
export function createResolver(hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf'): ResolveHost {
  const readHosts = keepFile(hostsFile, parseHosts)
  const readSettings = keepFile(resolvConf, openResolver)

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1']
    const listed = (await readHosts()).get(name)
    if (listed) return listed
    const { resolver, conf } = await readSettings()
    let failure: string | undefined
    for (const candidate of listNames(hostname, conf)) {
      const results = await Promise.allSettled([resolver.resolve4(candidate), resolver.resolve6(candidate)])
      const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      if (addresses.length > 0) return addresses
      failure = describeFailure(results)
      // Only a name that does not exist gives way to the next one, which may be a stranger's.
      if (!notFound.has(failure)) break
    }
    throw new Error(`No address of ${hostname}: ${failure}`)
  }
}

/** The failure that says more than that there is no such name, or else the first one. */
function describeFailure(results: PromiseSettledResult<unknown>[]): string {
  const codes = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as NodeJS.ErrnoException).code ?? 'failed'] : [],
  )
  return codes.find((code) => !notFound.has(code)) ?? codes[0] ?? 'ENODATA'
}

/**
 * Creates a function that returns what a file says, and notices within seconds that it was changed. While it is empty or cannot be read,
 * somebody is writing it: what it said stays.
 *
 * @param parse is called when the text is another one
 */
function keepFile<Content>(path: string, parse: (text: string) => Content): () => Promise<Content> {
  let kept: Promise<{ text: string; content: Content }> | undefined
  let readAt = 0

  async function read(before: typeof kept) {
    const [text, known] = await Promise.all([readFile(path, 'utf8').catch(() => ''), before])
    return known && (text === '' || text === known.text) ? known : { text, content: parse(text) }
  }

  return async () => {
    const now = performance.now()
    if (kept === undefined || now - readAt > fileTtlMs) {
      readAt = now
      kept = read(kept)
    }
    return (await kept).content
  }
}

/** Without a server that can be read, the resolver has those that Node finds. */
function openResolver(text: string) {
  const conf = readResolvConf(text)
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  try {
    if (conf.servers.length > 0) resolver.setServers(conf.servers)
  } catch {
    // An address that only the C library can read, such as one with a zone.
  }
  return { resolver, conf }
}

function parseHosts(text: string): Map<string, string[]> {
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
