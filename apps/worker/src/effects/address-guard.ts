import { BlockList, isIP } from 'node:net'
import type { Config } from '../config.js'
import { specialIpv4, specialIpv6, translatedIpv4 } from './special-addresses.js'

/** A call that must not be made: trying again cannot help. */
export class Refusal extends Error {}

export interface AddressGuard {
  /**
   * Reads a URL once, for all that follows: whoever reads it a second time may read it otherwise. Answers why it may not be
   * called where its scheme, port or host stand against it, or it carries credentials.
   */
  readUrl(text: string): URL | Refusal
  /** @throws Refusal where outbound calls may not reach the address */
  checkAddress(address: string): void
}

/** What outbound calls may reach. Knows of texts only; that they are asked in time is the connector's part (guarded-agent.ts). */
export function createAddressGuard({ allow, ports, hosts }: Config['outbound']): AddressGuard {
  const isSpecial = createAddressList([...specialIpv4, ...specialIpv6])
  const isAllowed = createAddressList(allow.map(({ address, prefixLength }) => [address, prefixLength]))

  function mayReach(address: string): boolean {
    // With a zone (fe80::1%eth0) it is an address of this machine's links, which BlockList cannot read.
    if (isIP(address) === 0 || address.includes('%')) return false
    if (isSpecial(address) && !isAllowed(address)) return false
    // Where a translator is allowed, what lies behind it still is not.
    const behind = translatedIpv4(address)
    return behind === undefined || mayReach(behind)
  }

  return {
    readUrl(text) {
      if (!URL.canParse(text)) return new Refusal('The URL cannot be read')
      const url = new URL(text)
      const isPlain = url.protocol === 'http:'
      if (!isPlain && url.protocol !== 'https:') return new Refusal('Outbound calls are http or https')
      if (url.username !== '' || url.password !== '')
        return new Refusal('Outbound calls carry no user name or password in their URL')
      const host = hostOf(url)
      if (hosts && !hosts.some((pattern) => fits(host, pattern)))
        return new Refusal(`Outbound calls may not reach the host ${host}`)
      const port = url.port === '' ? (isPlain ? 80 : 443) : Number(url.port)
      if (!ports.some(({ from, to }) => from <= port && port <= to))
        return new Refusal(`Outbound calls may not reach the port ${port}`)
      return url
    },
    checkAddress(address) {
      if (!mayReach(address)) throw new Refusal(`Outbound calls may not reach the address ${address}`)
    },
  }
}

/** `example.com.` is `example.com` too. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, '')
}

function fits(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

/** One list for each family: in a common one, `::/3` would hold every IPv4 address, in its clothes of IPv6. */
function createAddressList(subnets: [string, number][]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const [address, prefixLength] of subnets) {
    const family = familyOf(address)
    lists[family].addSubnet(address, prefixLength, family)
  }
  // Asked for ::ffff:127.0.0.1, the list of IPv4 sees 127.0.0.1.
  return (address) => {
    const family = familyOf(address)
    return lists.ipv4.check(address, family) || (family === 'ipv6' && lists.ipv6.check(address, family))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
