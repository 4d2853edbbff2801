import { lookup as dnsLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import type { Cidr } from '../config.js'

const connectTimeoutMs = 5_000

/**
 * An agent that connects to no private or special address, except where `allow` opens it. Three looks, since each
 * alone can be passed: a literal address never asks the resolver, a resolver may answer differently the second time,
 * and the peer is who it is.
 */
export function createGuardedAgent(allow: Cidr[]): Agent {
  const mayReach = createGuard(allow)
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: guardLookup(mayReach) })
  return new Agent({
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) && !mayReach(host)) return callback(refusal(host), null)
      connect(options, (error, socket) => {
        if (error) return callback(error, null)
        const peer = socket.remoteAddress ?? ''
        if (mayReach(peer)) return callback(null, socket)
        socket.destroy()
        callback(refusal(peer), null)
      })
    },
  })
}

/** True for an address that outbound calls may reach. */
export function createGuard(allow: Cidr[]): (address: string) => boolean {
  const special = new BlockList()
  for (const [address, prefixLength] of specialIpv4) special.addSubnet(address, prefixLength, 'ipv4')
  for (const [address, prefixLength] of specialIpv6) special.addSubnet(address, prefixLength, 'ipv6')
  const allowed = new BlockList()
  for (const { address, prefixLength, family } of allow) allowed.addSubnet(address, prefixLength, family)
  return (address) => {
    const version = isIP(address)
    if (version === 0) return false
    // ::ffff:127.0.0.1 is the IPv4 address in other clothes; Node's lists see through them.
    const family = version === 6 ? 'ipv6' : 'ipv4'
    return allowed.check(address, family) || !special.check(address, family)
  }
}

function guardLookup(mayReach: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const refused = addresses.find(({ address }) => !mayReach(address))
      if (refused) return callback(refusal(refused.address), [])
      const [first] = addresses
      if (options.all) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    })
  }
}

function refusal(address: string): Error {
  return new Error(`Outbound calls may not reach the address ${address}`)
}

// IANA's special-purpose registries (RFC 6890 and what followed), with multicast.
const specialIpv4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
const specialIpv6: [string, number][] = [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]
