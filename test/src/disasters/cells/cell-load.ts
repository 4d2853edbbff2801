import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@automation/client'
import { readSigningKey, signWebhook } from '@automation/webhooks'

/** A workspace that is under load. */
export interface LoadedWorkspace {
  id: string
  secret: { id: string; secret: string }
}

/** An event that a caller got an id for. */
export interface Acknowledged {
  name: string
  id: string
  /** Epoch ms. */
  at: number
}

export interface CellLoad {
  /** Of events of callers and of webhooks. */
  events: Acknowledged[]
  webhooks: Acknowledged[]
  /** One sentence for each call that failed for its caller. */
  failures: string[]
  /** How often a call, or a webhook, was repeated. */
  repeats(): number
  /** The longest time (ms) in which nothing was acknowledged. */
  silentMs(): number
  /** Posts all that was acknowledged once more, with its key. @returns one sentence for each that was accepted again */
  postAgain(): Promise<string[]>
  stop(): Promise<void>
}

export const provider = 'cells'
export const type = 'LEAD_CREATED'
const callers = 6
const pauseMs = 60
const againEvery = 5

/** Callers with the retries of the client, and a sender of webhooks that tries again until it is heard. */
export function startCellLoad(baseUrl: string, token: string, { id, secret }: LoadedWorkspace): CellLoad {
  const key = readSigningKey(secret.secret)
  const events: Acknowledged[] = []
  const webhooks: Acknowledged[] = []
  const failures: string[] = []
  let attempts = 0
  let repeated = 0
  let calls = 0
  let next = 0
  let isStopped = false
  const countedFetch: typeof fetch = (input, init) => {
    attempts++
    return fetch(input, init)
  }
  const client = createClient({ baseUrl, token, workspaceId: id, fetch: countedFetch })
  const running = [...Array.from({ length: callers }, callOn), sendOn()]

  return {
    events,
    webhooks,
    failures,
    repeats: () => repeated,
    silentMs: () => longestGap([...events, ...webhooks].map(({ at }) => at)),
    async postAgain() {
      const again: string[] = []
      for (const [index, { name, id: first }] of events.entries()) {
        if (index % againEvery !== 0) continue
        const { eventId } = await send(name, false)
        if (eventId !== first)
          again.push(`${name} was ${first}, and is ${eventId} with the same Idempotency-Key`)
      }
      for (const { name, id: first } of webhooks) {
        const response = await deliver(name)
        const body = (await response.json()) as { id: string; deduplicated: boolean }
        if (!body.deduplicated || body.id !== first)
          again.push(`the webhook ${name} was accepted again: ${response.status} ${body.id}`)
      }
      return again
    },
    async stop() {
      isStopped = true
      await Promise.all(running)
      repeated = attempts - calls
    },
  }

  function send(name: string, isAsync: boolean) {
    return client.events.send(type, { name }, { async: isAsync, idempotencyKey: name })
  }

  async function callOn(): Promise<void> {
    while (!isStopped) {
      const index = next++
      const name = `event-${index}`
      calls++
      try {
        const { eventId } = await send(name, index % 2 === 0)
        events.push({ name, id: eventId, at: Date.now() })
      } catch (error) {
        failures.push(`${name}: ${(error as Error).message}`)
      }
      await delay(pauseMs)
    }
  }

  async function sendOn(): Promise<void> {
    for (let index = 0; !isStopped; index++) {
      const name = `webhook-${index}`
      calls++
      for (;;) {
        attempts++
        const response = await deliver(name).catch(() => undefined)
        if (response?.ok) {
          const body = (await response.json()) as { id: string }
          webhooks.push({ name, id: body.id, at: Date.now() })
          break
        }
        if (response !== undefined && response.status < 500) {
          failures.push(`${name}: ${response.status}`)
          break
        }
        await delay(500)
      }
      await delay(pauseMs)
    }
  }

  function deliver(name: string): Promise<Response> {
    const body = JSON.stringify({ type: 'note', data: { name } })
    const timestamp = `${Math.floor(Date.now() / 1_000)}`
    const headers = {
      'content-type': 'application/json',
      'x-idempotency-key': name,
      'x-timestamp': timestamp,
      'x-signature-id': secret.id,
      'x-signature': signWebhook(key, { id: name, timestamp, body }),
    }
    return fetch(`${baseUrl}/api/incoming-webhooks/${provider}/${id}`, { method: 'POST', headers, body })
  }
}

function longestGap(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.reduce((most, at, index) => Math.max(most, at - (sorted[index - 1] ?? at)), 0)
}
