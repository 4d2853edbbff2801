import { BlockList, isIP } from 'node:net'
import type { Config } from '../config.js'
import { specialIpv4, specialIpv6, translatedIpv4 } from './special-addresses.js'

/** A call that must not be made. Another attempt cannot help. Tenants read the message, so no address is in it. */
export class RefusedCall extends Error {
  /** What a host was resolved to: for the log alone. */
  readonly address: string | undefined

  constructor(message: string, address?: string) {
    super(message)
    this.address = address
  }
}

export interface AddressGuard {
  /**
   * Parses a URL once, for all later steps: a second parser may read the same text differently.
   *
   * @returns a RefusedCall if the scheme, the port or the host is not allowed, or the URL carries credentials
   */
  readUrl(text: string): URL | RefusedCall
  /** @throws RefusedCall where outbound calls may not reach the address, which the host was resolved to */
  checkAddress(address: string, host: string): void
  /** Whether the operator has named the address as one that outbound calls may reach. */
  isOpened(address: string): boolean
}

/** Decides what outbound calls may reach. It checks texts only; guarded-connector.ts applies it before each connection. */
export function createAddressGuard({ allow, ports, hosts }: Config['outbound']): AddressGuard {
  const isSpecial = createAddressList([...specialIpv4, ...specialIpv6])
  const isAllowed = createAddressList(allow.map(({ address, prefixLength }) => [address, prefixLength]))

  function mayReach(address: string): boolean {
    // An address with a zone (fe80::1%eth0) belongs to a link of this machine. BlockList cannot read it.
    if (isIP(address) === 0 || address.includes('%')) return false
    if (isSpecial(address) && !isAllowed(address)) return false
    // Permission for a translator is no permission for the addresses behind it.
    const translated = translatedIpv4(address)
    return translated === undefined || mayReach(translated)
  }

  return {
    readUrl(text) {
      if (!URL.canParse(text)) return new RefusedCall('The URL cannot be read')
      const url = new URL(text)
      const isHttp = url.protocol === 'http:'
      if (!isHttp && url.protocol !== 'https:')
        return new RefusedCall('Outbound calls must use http or https')
      if (url.username !== '' || url.password !== '')
        return new RefusedCall('Outbound calls must not have a user name or password in their URL')
      const host = hostOf(url)
      if (hosts && !hosts.some((pattern) => matchesHost(host, pattern)))
        return new RefusedCall(`Outbound calls may not reach the host ${host}`)
      const port = url.port === '' ? (isHttp ? 80 : 443) : Number(url.port)
      if (!ports.some(({ from, to }) => from <= port && port <= to))
        return new RefusedCall(`Outbound calls may not reach the port ${port}`)
      return url
    },
    checkAddress(address, host) {
      if (mayReach(address)) return
      throw new RefusedCall(
        `Outbound calls may not reach the host ${host}: its address is private or reserved`,
        address,
      )
    },
    isOpened: (address) => isIP(address) !== 0 && !address.includes('%') && isAllowed(address),
  }
}

/** The host name without the dot that may end it: `example.com.` is `example.com`. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '')
}

function matchesHost(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

/** Each family has its own list: in a common one, `::/3` would contain every IPv4 address, mapped to IPv6. */
function createAddressList(subnets: [string, number][]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const [address, prefixLength] of subnets) {
    const family = familyOf(address)
    lists[family].addSubnet(address, prefixLength, family)
  }
  // The IPv4 list reads ::ffff:127.0.0.1 as 127.0.0.1.
  return (address) => {
    const family = familyOf(address)
    return lists.ipv4.check(address, family) || (family === 'ipv6' && lists.ipv6.check(address, family))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
