import { isIPv6 } from 'node:net'

/** IANA's special-purpose registry (RFC 6890 and its successors), multicast, and addresses that clouds reserve. */
export const specialIpv4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's own services, at a public address
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

/** All but global unicast (2000::/3), and its special parts: Teredo and others, documentation, 6to4. */
export const specialIpv6: [string, number][] = [
  ['::', 3],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
]

/** The IPv4 address that a NAT64 translator reaches for an address in 64:ff9b::/96 (RFC 6052); undefined for all others. */
export function translatedIpv4(address: string): string | undefined {
  if (!isIPv6(address)) return undefined
  // The URL parser normalizes each IPv6 address to one spelling.
  const { hostname } = new URL(`http://[${address}]`)
  const groups = /^\[64:ff9b::(?:([0-9a-f]+):)?([0-9a-f]+)?\]$/.exec(hostname)
  if (groups === null) return undefined
  const [high, low] = [groups[1] ?? '0', groups[2] ?? '0'].map((group) => Number.parseInt(group, 16))
  return [high, low].flatMap((pair = 0) => [pair >> 8, pair & 255]).join('.')
}
