import { readUrl } from './url-settings.js'

/** What a REDIS_URL says: of one server, or of the Sentinels that know the primary. */
export interface RedisAddress {
  /** As for one server. With Sentinels its host is the name under which they know the primary. */
  url: URL
  sentinels: SentinelAddress[]
}

export interface SentinelAddress {
  host: string
  port: number
}

const sentinelPort = 26_379
const ofSentinels = /^(rediss?)\+sentinel:\/\/([^/?#@]*@)?([^/?#@]+)(\/[\w.-]+.*)$/

/** @returns undefined if it is no URL */
export function readRedisUrl(text: string): RedisAddress | undefined {
  const [, scheme, login = '', hosts = '', rest = ''] = ofSentinels.exec(text) ?? []
  if (scheme === undefined) {
    const url = text.includes('+sentinel:') ? undefined : readUrl(text)
    return url && { url, sentinels: [] }
  }
  const sentinels = hosts.split(',').map(readSentinel)
  const url = readUrl(`${scheme}://${login}${rest.slice(1)}`)
  const isWhole = sentinels.every((sentinel) => sentinel !== undefined)
  return url !== undefined && url.port === '' && isWhole ? { url, sentinels } : undefined
}

function readSentinel(text: string): SentinelAddress | undefined {
  const url = readUrl(`redis://${text}`)
  if (url === undefined || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || sentinelPort) }
}
