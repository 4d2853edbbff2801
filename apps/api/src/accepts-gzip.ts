import type { FastifyRequest } from 'fastify'

/** `gzip;q=0` refuses it. */
export function acceptsGzip({ headers }: FastifyRequest): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''))
}
