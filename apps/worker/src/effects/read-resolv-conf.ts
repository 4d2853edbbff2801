/** What a resolv.conf says about look-ups. */
export interface ResolvConf {
  servers: string[]
  /** The domains that complete a short name, in their order. */
  search: string[]
  /** A name with fewer dots is a short one. */
  ndots: number
}

/** Reads a resolv.conf as the C library does: the last `search` or `domain` counts, and a later option replaces an earlier one. */
export function readResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { servers: [], search: [], ndots: 1 }
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/(^|\s)[#;].*/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'nameserver' && values[0]) conf.servers.push(values[0])
    if (keyword === 'search') conf.search = values
    if (keyword === 'domain') conf.search = values.slice(0, 1)
    if (keyword === 'options') conf.ndots = readDots(values) ?? conf.ndots
  }
  return conf
}

/**
 * The names that a host name may stand for, in the order in which they are asked for. A short name is first one of a search domain: in
 * Kubernetes, `crm.dev` is the service `crm` of the namespace `dev`, and no host of the internet.
 */
export function listNames(hostname: string, { search, ndots }: ResolvConf): string[] {
  if (hostname.endsWith('.')) return [hostname]
  const completed = search.map((domain) => [hostname, domain.replace(/\.$/, '')].join('.'))
  const isShort = hostname.split('.').length - 1 < ndots
  return isShort ? [...completed, hostname] : [hostname, ...completed]
}

function readDots(options: string[]): number | undefined {
  const dots = options.flatMap((option) => /^ndots:(\d+)$/.exec(option)?.[1] ?? []).at(-1)
  return dots === undefined ? undefined : Number(dots)
}
