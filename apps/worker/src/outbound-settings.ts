import { isIP } from 'node:net'

export interface Cidr {
  address: string
  prefixLength: number
  family: 'ipv4' | 'ipv6'
}

/** Both ends included. */
export interface PortRange {
  from: number
  to: number
}

/** Parses comma-separated items; undefined where one of them is invalid. */
export function readList<Item>(
  text: string,
  readItem: (text: string) => Item | undefined,
): Item[] | undefined {
  const items: Item[] = []
  for (const part of text.split(',')) {
    const item = readItem(part.trim())
    if (item === undefined) return undefined
    items.push(item)
  }
  return items
}

/** Parses `10.0.0.0/8`, or a single address. */
export function readCidr(text: string): Cidr | undefined {
  const [, address = '', length] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const version = isIP(address)
  const bits = version === 6 ? 128 : 32
  const prefixLength = Number(length ?? bits)
  if (version === 0 || prefixLength > bits) return undefined
  return { address, prefixLength, family: version === 6 ? 'ipv6' : 'ipv4' }
}

/** Parses `443` or `8000-8999`. */
export function readPortRange(text: string): PortRange | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const [from, to] = [Number(first), Number(last)]
  return from >= 1 && from <= to && to <= 65_535 ? { from, to } : undefined
}

/**
 * Parses `example.com`, or `*.example.com` for its subdomains, and normalizes it as a URL does: lower case, Punycode, no dot at the
 * end.
 */
export function readHost(text: string): string | undefined {
  const [, wildcard = '', name = ''] = /^(\*\.)?([^\s/?#@:\\%*[\]]+)$/.exec(text) ?? []
  if (!URL.canParse(`http://${name}`)) return undefined
  return wildcard + new URL(`http://${name}`).hostname.replace(/\.$/, '')
}
