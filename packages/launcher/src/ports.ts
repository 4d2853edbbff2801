import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

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
 * A port of 127.0.0.1 that nobody listens on. It lies below the ports that systems give to outgoing connections
 * (from 32768 on Linux): a client that keeps dialling a dead local server from such a port in the end connects to
 * itself, and then the server cannot come back.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isPortFree(port)) return port
  }
}
