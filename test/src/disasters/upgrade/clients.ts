import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@automation/client'
import type { SentEvent } from '../../storm/load.js'
import type { Site } from '../../storm/site.js'

/** Callers that use the client as its page says, with its own retries. */
export interface Clients {
  /** How many calls they have made, and how often one was repeated. */
  count(): { calls: number; repeats: number; slowestMs: number }
  /** One sentence for each call that failed for its caller. */
  failures: string[]
  /** What they have posted, for the checks of the storm. */
  sent: SentEvent[]
  stop(): Promise<void>
}

const callers = 12
const pauseMs = 50
const type = 'LEAD_CREATED'

/** @param baseUrl of the load balancer */
export function startClients({ workspaces, token }: Site, baseUrl: string): Clients {
  let attempts = 0
  let calls = 0
  let slowestMs = 0
  let next = 0
  let isStopped = false
  const failures: string[] = []
  const sent: SentEvent[] = []
  const countedFetch: typeof fetch = (input, init) => {
    attempts++
    return fetch(input, init)
  }
  const clients = workspaces.map(({ id }) =>
    createClient({ baseUrl, token, workspaceId: id, fetch: countedFetch }),
  )
  const running = Array.from({ length: callers }, call)

  return {
    failures,
    sent,
    count: () => ({ calls, repeats: attempts - calls, slowestMs }),
    async stop() {
      isStopped = true
      await Promise.all(running)
    },
  }

  async function call(): Promise<void> {
    while (!isStopped) {
      const index = next++
      const workspace = index % workspaces.length
      const client = clients[workspace]
      const name = `client-${index}`
      const id = await attempt(`POST ${name}`, async () => {
        // The default of the API is to wait for the outcome.
        const isAsync = index % 2 === 0
        return (await client?.events.send(type, { name, tags: [] }, { async: isAsync }))?.eventId
      })
      sent.push(toSentEvent(name, workspace, id))
      if (id !== undefined) await attempt(`GET ${name}`, async () => client?.events.get(id))
      await delay(pauseMs)
    }
  }

  async function attempt<Result>(what: string, ask: () => Promise<Result>): Promise<Result | undefined> {
    const from = performance.now()
    calls++
    try {
      return await ask()
    } catch (error) {
      failures.push(`${what}: ${(error as Error).message}`)
      return undefined
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - from)
    }
  }
}

function toSentEvent(name: string, workspace: number, id: string | undefined): SentEvent {
  return {
    event: {
      ...{ name, workspace, type, becomes: [type], route: 'trigger', tags: 0 },
      ...{ isKeyed: true, isSync: true, copy: undefined },
    },
    outcomes: [{ kind: id === undefined ? 'unknown' : 'ok', status: undefined, id, at: Date.now() }],
  }
}
