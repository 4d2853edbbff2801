import { readSigningKey } from '@automation/webhooks'
import { Client } from 'undici'
import { signDelivery } from './ingest/sign-delivery.js'
import type { LoadOrder, LoadResult } from './load.js'

// The load generator, in its own process so that its CPU time is separate.
let clients: Client[] | undefined

process.on('message', async (order: LoadOrder) => {
  clients ??= Array.from(
    { length: order.connections },
    (_, index) => new Client(originOf(order, index), { pipelining: 1, headersTimeout: 60_000 }),
  )
  process.send?.(await runLoad(clients, order))
})
process.on('disconnect', () => process.exit())

function originOf({ origins }: LoadOrder, index: number): string {
  return origins[index % origins.length] as string
}

/** A closed loop: each connection sends its next request after the response to the last one. */
async function runLoad(clients: Client[], order: LoadOrder): Promise<LoadResult> {
  const latenciesMs: number[] = []
  const nextHeaders = chooseHeaders(order)
  const startedAt = performance.now()
  const endAt = startedAt + order.seconds * 1_000
  await Promise.all(
    clients.map(async (client) => {
      for (let sentAt = startedAt; sentAt < endAt; ) {
        await request(client, order, nextHeaders())
        const answeredAt = performance.now()
        latenciesMs.push(answeredAt - sentAt)
        sentAt = answeredAt
      }
    }),
  )
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  const sorted = Float64Array.from(latenciesMs).sort()
  const percentile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { requests: sorted.length, elapsedSeconds, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
}

/** Signed just before it is sent, which costs the load generator the same for every server. */
function chooseHeaders({ headers, payload = '', signingSecret }: LoadOrder): () => Record<string, string> {
  if (signingSecret === undefined) return () => headers
  const key = readSigningKey(signingSecret)
  return () => ({ ...headers, ...signDelivery(key, payload) })
}

/** Figures that include failures mean nothing, so the first failure ends this process and the benchmark. */
async function request(
  client: Client,
  { path, payload, expectedStatus }: LoadOrder,
  headers: Record<string, string>,
): Promise<void> {
  const { statusCode, body } = await client.request(
    payload === undefined
      ? { method: 'GET', path, headers }
      : { method: 'POST', path, headers, body: payload },
  )
  if (statusCode !== expectedStatus) throw new Error(`Answered ${statusCode}: ${await body.text()}`)
  await body.dump()
}
