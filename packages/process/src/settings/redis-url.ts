import { readUrl } from './url-settings.js'

/** What a REDIS_URL says: of one server, of the Sentinels that know the primary, or of nodes of a cluster. */
export interface RedisAddress {
  /** As for one server. With Sentinels its host is the name under which they know the primary; with a cluster it is the first node. */
  url: URL
  sentinels: HostAddress[]
  nodes: HostAddress[]
}

export interface HostAddress {
  host: string
  port: number
}

const port = 6_379
const sentinelPort = 26_379
const ofHosts = /^(rediss?)\+(sentinel|cluster):\/\/([^/?#@]*@)?([^/?#@]+)(.*)$/

/** @returns undefined if it is no URL */
export function readRedisUrl(text: string): RedisAddress | undefined {
  const [, scheme, kind, login = '', hosts = '', rest = ''] = ofHosts.exec(text) ?? []
  if (scheme === undefined) {
    const url = /^\w+\+/.test(text) ? undefined : readUrl(text)
    return url && { url, sentinels: [], nodes: [] }
  }
  const isCluster = kind === 'cluster'
  const read = hosts.split(',').map((host) => readHost(host, isCluster ? port : sentinelPort))
  const known = read.filter((host) => host !== undefined)
  if (known.length < read.length) return undefined
  if (isCluster) {
    const url = readUrl(`${scheme}://${login}${hosts.split(',')[0]}${rest}`)
    return url && { url, sentinels: [], nodes: known }
  }
  const url = /^\/[\w.-]/.test(rest) ? readUrl(`${scheme}://${login}${rest.slice(1)}`) : undefined
  return url && url.port === '' ? { url, sentinels: known, nodes: [] } : undefined
}

function readHost(text: string, usualPort: number): HostAddress | undefined {
  const url = readUrl(`redis://${text}`)
  if (url === undefined || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || usualPort) }
}
