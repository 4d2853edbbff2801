import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from './random.js'
import { AccessTokens, echoSecrets } from './secrets.js'

/** All calls that came under one key. */
export interface KeyedCalls {
  names: Set<string>
  bodies: Set<string>
  count: number
  /** How many of them were answered 200. */
  welcome: number
}

/**
 * Whom the rules call. It notes every call, refuses the first one under some of the keys, and takes its time with some: so that
 * a worker that is killed or put to sleep has calls under way. It grants access tokens, and repeats in its responses what nobody may keep.
 */
export interface Target {
  url: string
  calls: Map<string, KeyedCalls>
  close(): void
}

/** Its other paths are names of events. */
export const tokenPath = '/token'
const slowShare = 0.1
const slowMs = [200, 2_000] as const

/** @param host of its URL; it listens on 127.0.0.1 */
export async function openTarget(seed: number, refusedShare = 0.05, host = '127.0.0.1'): Promise<Target> {
  const calls = new Map<string, KeyedCalls>()
  const random = createRandom(seed, -1)
  const tokens = new AccessTokens()

  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined)
    // Cut off before its end: its sender was killed, and nothing was received.
    if (body === undefined) return
    const send = (status: number, json: object, headers: object = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json))
    if (request.url === tokenPath) {
      if (random.chance(slowShare)) await delay(random.between(...slowMs))
      return send(200, { access_token: tokens.grant(), token_type: 'Bearer', expires_in: 3_600 })
    }
    const { authorization = '', 'x-key': secret = '' } = request.headers
    const echo = echoSecrets(String(secret), authorization)
    // Within the same attempt it comes with the next token.
    if (tokens.isRefused(authorization)) return send(401, echo)
    const key = String(request.headers['idempotency-key'])
    const known = calls.get(key) ?? { names: new Set(), bodies: new Set(), count: 0, welcome: 0 }
    calls.set(key, known)
    const isRefused = known.count === 0 && random.chance(refusedShare)
    known.count += 1
    known.welcome += isRefused ? 0 : 1
    known.names.add(request.url?.slice(1) ?? '')
    known.bodies.add(body)
    if (random.chance(slowShare)) await delay(random.between(...slowMs))
    send(isRefused ? 503 : 200, echo, { 'x-echo': encodeURIComponent(String(secret)) })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))

  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    calls,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
