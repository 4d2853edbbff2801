import { readSigningKey } from '@automation/webhooks'
import { Client, type Dispatcher, Pool } from 'undici'
import { knownId, signDelivery } from '../ingest/sign-delivery.js'
import { waitsOf } from '../statistics.js'
import type { LoadOrder, LoadRequest, LoadResult, OpenLoadResult } from './load.js'
import { startOpenLoop, type Wait } from './open-loop.js'

// The load generator, in its own process so that its CPU time is separate.
let clients: Client[] | undefined
let pools: Pool[] | undefined
let sent = 0

const headersTimeout = 60_000
const windowMs = 10_000
const overrunSeconds = 5

process.on('message', async (order: LoadOrder) => {
  const result = order.ratePerSecond === undefined ? await runClosed(order) : await runOpen(order)
  process.send?.(result)
})
process.on('disconnect', () => process.exit())

/** Each connection sends its next request after the response to the last one. */
async function runClosed(order: LoadOrder): Promise<LoadResult> {
  const { origins, connections, seconds } = order
  clients ??= Array.from(
    { length: connections },
    (_, index) => new Client(origins[index % origins.length] as string, { pipelining: 1, headersTimeout }),
  )
  const latenciesMs: number[] = []
  const nextRequest = chooseRequests(order)
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1_000
  await Promise.all(
    clients.map(async (client) => {
      for (let sentAt = startedAt; sentAt < endAt; ) {
        await request(client, nextRequest(), order)
        const answeredAt = performance.now()
        latenciesMs.push(answeredAt - sentAt)
        sentAt = answeredAt
      }
    }),
  )
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  const { count, p50Ms, p99Ms } = waitsOf(latenciesMs)
  return { requests: count, elapsedSeconds, p50Ms, p99Ms }
}

/** A request that finds no free connection waits for one, and that wait counts. */
async function runOpen(order: LoadOrder): Promise<OpenLoadResult> {
  const { origins, connections, seconds, ratePerSecond = 1 } = order
  pools ??= origins.map(
    (origin) =>
      new Pool(origin, {
        connections: Math.ceil(connections / origins.length),
        pipelining: 1,
        headersTimeout,
      }),
  )
  const all = pools
  const nextRequest = chooseRequests(order)
  const startedAt = performance.now()
  const loop = startOpenLoop({
    ratePerSecond,
    count: Math.ceil(ratePerSecond * seconds),
    maxUnderWay: Math.max(connections, overrunSeconds * ratePerSecond),
    send: (n) => request(all[n % all.length] as Pool, nextRequest(), order),
  })
  const { waits: found, firstFailure, ...others } = await loop.finish()
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  const waits = waitsOf(found.map(({ waitMs }) => waitMs))
  return {
    requests: waits.count,
    elapsedSeconds,
    p50Ms: waits.p50Ms,
    p99Ms: waits.p99Ms,
    waits,
    windows: splitByTime(found).map(waitsOf),
    firstFailure: firstFailure === undefined ? null : `${firstFailure}`,
    ...others,
  }
}

/** The waits (ms) of the calls that were due in each ten seconds. */
function splitByTime(found: Wait[]): number[][] {
  const windows: number[][] = []
  for (const { dueMs, waitMs } of found) {
    const index = Math.floor(dueMs / windowMs)
    windows[index] ??= []
    windows[index].push(waitMs)
  }
  return [...windows].map((window) => window ?? [])
}

/** Webhooks are signed just before they are sent, which costs the load generator the same for every server. */
function chooseRequests({ requests, signing }: LoadOrder): () => LoadRequest {
  const next = () => requests[sent++ % requests.length] as LoadRequest
  if (signing === undefined) return next
  const { secret, knownIds } = signing
  const key = readSigningKey(secret)
  return () => {
    const { headers, payload = '', ...request } = next()
    const id = knownIds === undefined ? undefined : knownId(sent % knownIds)
    return { ...request, payload, headers: { ...headers, ...signDelivery(key, payload, id) } }
  }
}

async function request(
  dispatcher: Dispatcher,
  { path, payload, headers }: LoadRequest,
  { expectedStatus }: LoadOrder,
): Promise<void> {
  const { statusCode, body } = await dispatcher.request(
    payload === undefined
      ? { method: 'GET', path, headers }
      : { method: 'POST', path, headers, body: payload },
  )
  if (statusCode !== expectedStatus) throw new Error(`Answered ${statusCode}: ${await body.text()}`)
  await body.dump()
}
