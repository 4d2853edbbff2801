import type { FastifyRequest } from 'fastify'

/**
 * Reads the bearer token that a company's proxy adds after it has signed the user in.
 *
 * @returns undefined if no proxy is trusted, or if the request did not come through it
 */
export function findProxyBearer(request: FastifyRequest, trustsBearer: boolean): string | undefined {
  if (!trustsBearer || !isProxy(request)) return undefined
  const { authorization, 'x-forwarded-access-token': forwarded } = request.headers
  const given = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ?? forwarded
  return typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) ? given : undefined
}

/** With TRUST_PROXY, Fastify lists the addresses that it trusts after the client's; without one, `ips` has a single entry. */
function isProxy({ ips }: FastifyRequest): boolean {
  return (ips?.length ?? 0) > 1
}
