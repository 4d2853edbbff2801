import { normalizeIP } from '@fastify/rate-limit'

/** What counts as one sender: an IPv4 address, or a /64 of IPv6, which one machine can have for itself. */
export function networkOf(address: string): string {
  return normalizeIP(address, 64)
}
