import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIPv6 } from 'node:net'

/** Stand for all addresses of the machine. */
export const everywhere = ['0.0.0.0', '::']

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/**
 * A free port of 127.0.0.1, below the ports that systems assign to outgoing connections (from 32768 on Linux).
 * A client that keeps dialling a dead local server on such an ephemeral port eventually connects to itself, and then
 * the server cannot restart on that port. No other process finds it while this one lives: a server that is killed and started again has its port still, and
 * its callers reach no other one.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if ((await isPortFree(port)) && (await reserve(port))) return port
  }
}

/** Binds the port of UDP with the same number, which nobody uses, until this process ends. @returns false where another process has it */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  try {
    socket.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(socket, 'listening')
    return true
  } catch {
    socket.close()
    return false
  }
}

/** The host of a URL under which this machine reaches a process that listens on an address. */
export function hostOfUrl(address: string): string {
  if (everywhere.includes(address)) return '127.0.0.1'
  return isIPv6(address) ? `[${address}]` : address
}
