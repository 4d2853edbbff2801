import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'
import { createRandom, type Random } from './random.js'
import type { RuleToMake } from './rule-book.js'
import type { Site } from './site.js'

/** An event whose rule makes one call, and whether it was acknowledged. */
export interface OnceEvent {
  name: string
  isAcknowledged: boolean
}

/** When its request ended (epoch ms). */
type SentOnce = OnceEvent & { at: number }

export interface Once {
  sent: SentOnce[]
  /** Waits for the requests in progress. */
  stop(): Promise<void>
}

const type = 'DEAL_LOST'
const pauseMs = [50, 250] as const
const afterFailureMs = 1_000
/** Of each API: so there are often some in one commit. */
const lanes = 3

/** A call that is never repeated: if a worker ends during it, its outcome is unknown. */
export function onceRule(targetUrl: string): RuleToMake {
  const config = { url: `${targetUrl}/{{name}}`, body: { name: '{{name}}' } }
  const action = { type: 'SEND_WEBHOOK', config, onUncertain: 'stop', retry: { attempts: 1 } }
  return { name: 'Once', trigger: type, conditions: [], actions: [action] }
}

/** Posts events all through the storm, on some lanes to each API. */
export function startOnce(site: Site, seed: number): Once {
  const sent: SentOnce[] = []
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const { id: workspaceId } = site.once
  const running = site.apis.flatMap((_, api) =>
    Array.from({ length: lanes }, (_, lane) => run(api, createRandom(seed, -2_000_000 - api * lanes - lane))),
  )
  return {
    sent,
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }

  async function run(api: number, random: Random): Promise<void> {
    while (!stopping.signal.aborted) {
      const event: SentOnce = { name: `once-${sent.length}`, isAcknowledged: false, at: 0 }
      sent.push(event)
      const body = { data: { name: event.name } }
      const headers = { prefer: 'respond-async' }
      const path = `/api/automation-rules/trigger/${type}`
      const answer = await ask(site, { api, workspaceId }, 'POST', path, body, headers)
      event.at = Date.now()
      event.isAcknowledged = answer !== undefined && answer.status < 300
      const [least, most] = pauseMs
      const pause = event.isAcknowledged ? random.between(least, most) : afterFailureMs
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
}
