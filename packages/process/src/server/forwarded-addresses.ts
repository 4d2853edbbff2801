import type { FastifyInstance } from 'fastify'

/**
 * Takes the ports off the addresses in `X-Forwarded-For`, before anybody asks for that of the caller: some gateways (Azure's) write them, and each
 * connection would be a caller with limits of its own, and no proxy a known one.
 */
export function readForwardedAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    // Node joins several of them.
    const sent = headers['x-forwarded-for'] as string | undefined
    if (sent !== undefined) headers['x-forwarded-for'] = sent.split(',').map(withoutPort).join()
  })
}

const withPort = /^\s*(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)\s*$/

/** A plain IPv6 address has colons, and no port. */
function withoutPort(address: string): string {
  const [, v6, v4] = withPort.exec(address) ?? []
  return v6 ?? v4 ?? address
}
