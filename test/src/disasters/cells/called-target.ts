import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Whom the rules call. */
export interface CalledTarget {
  url: string
  /** By Idempotency-Key. */
  calls: Map<string, { path: string; count: number }>
  close(): void
}

/** Each so many calls takes its time: some are in progress whenever a workspace is closed. */
const slow = { each: 7, ms: 700 }

export async function openCalledTarget(): Promise<CalledTarget> {
  const calls: CalledTarget['calls'] = new Map()
  let received = 0
  const server = createServer(async (request, response) => {
    const key = String(request.headers['idempotency-key'])
    const known = calls.get(key) ?? { path: request.url ?? '', count: 0 }
    calls.set(key, { ...known, count: known.count + 1 })
    request.resume()
    if (++received % slow.each === 0) await delay(slow.ms)
    response.end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
