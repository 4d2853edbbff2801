import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'
import { toggledNames } from './hostile-rules.js'
import { createRandom, type Random } from './random.js'
import type { Site } from './site.js'

/** An event of the workspace that attacks, and what its caller knows of it. */
export interface HostileEvent {
  name: string
  type: string
  outcome: 'ok' | 'failed' | 'unknown'
  id: string | undefined
}

export interface Hostile {
  sent: HostileEvent[]
  /** How many requests were sent. */
  requests(): number
  /** Waits for the requests under way. */
  stop(): Promise<void>
}

const attacks = [
  ...['flood', 'flood', 'patterns', 'patterns', 'patterns', 'many', 'wait', 'wait', 'fail'],
  ...['dry run', 'dry run', 'list', 'toggle', 'toggle', 'retry', 'text', 'text'],
] as const
/** A text is cut at some of these lengths, within a character. The last ones are refused: Postgres cannot store them. */
const oddTexts = [
  ...[60, 256, 1_000].map((length) => `${'a'.repeat(length - 1)}😀 and more`),
  '😀'.repeat(1_000),
  ...['\ud83d', 'x\ude00y', 'a\0b'],
]
/** Requests of a burst, for each request a minute: the default limit is 60/100. */
const burstShare = 100 / 60
const leastPauseMs = 50
const mostUnderWay = 20
/** Rows that a bulk request changes for one token. */
const rowsPerToken = 50
const batchEvents = 5
const path = '/api/automation-rules'

/**
 * One workspace that does its worst to the others, all through the storm, and as fast as a rate limit lets it. The storm has no
 * such limit, so it counts its own tokens.
 */
export function startHostile(site: Site, seed: number, perMinute: number): Hostile {
  const sent: HostileEvent[] = []
  const { id: workspaceId, rules } = site.hostile
  const letters = lettersOf(99_000)
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  let requests = 0
  let tokens = 0
  const running = perMinute > 0 ? run() : Promise.resolve()
  return {
    sent,
    requests: () => requests,
    async stop() {
      stopping.abort()
      await running
    },
  }

  async function run(): Promise<void> {
    const underWay = new Set<Promise<void>>()
    const startedAt = performance.now()
    const earned = () => perMinute * (burstShare + (performance.now() - startedAt) / 60_000)
    for (let turn = 0; !stopping.signal.aborted; ) {
      if (tokens + 1 <= earned() && underWay.size < mostUnderWay) {
        const random = createRandom(seed, -1_000_000 - turn)
        tokens += 1
        requests += 1
        const one = attack(turn++, random).finally(() => underWay.delete(one))
        underWay.add(one)
      }
      await delay(leastPauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
    await Promise.all(underWay)
  }

  async function attack(turn: number, random: Random): Promise<void> {
    const api = random.between(0, site.apis.length - 1)
    const call = (method: string, where: string, body?: object) =>
      ask(site, { api, workspaceId }, method, where, body, { prefer: 'respond-async' })
    const name = `hostile-${turn}`
    switch (random.pick(attacks)) {
      case 'flood':
        return post('LEAD_UPDATED', [{ name }])
      case 'patterns':
        return post('LEAD_CREATED', [{ name, text: letters.slice(turn, turn + 4_000) }])
      case 'many':
        return post(
          'LEAD_DELETED',
          Array.from({ length: batchEvents }, (_, n) => ({ name: `${name}-${n}` })),
        )
      case 'wait':
        return post('DEAL_LOST', [{ name }])
      case 'fail':
        return post('CONTACT_UPDATED', [{ name }])
      case 'text':
        return post('TAG_ADDED', [{ name, text: random.pick(oddTexts) }])
      case 'dry run': {
        const rule = rules.find((one) => one.name.startsWith('Patterns'))
        const body = { data: { text: letters }, dryRun: true }
        await call('POST', `${path}/${rule?.id}/execute?explain=true`, body)
        return
      }
      case 'list':
        await call('GET', path)
        return
      case 'toggle': {
        const wanted = random.pick(toggledNames)
        await call('PATCH', `${path}/${rules.find((one) => one.name === wanted)?.id}/toggle`)
        return
      }
      case 'retry': {
        const answer = await call('POST', '/api/executions/retry', { filter: {}, dryRun: false })
        tokens += Math.ceil((answer?.body.retried ?? 0) / rowsPerToken)
      }
    }

    async function post(type: string, events: { name: string; text?: string }[]): Promise<void> {
      const records = events.map(
        ({ name }): HostileEvent => ({ name, type, outcome: 'unknown', id: undefined }),
      )
      sent.push(...records)
      const [first] = events
      const where = `${path}/trigger/${type}`
      const answer =
        events.length === 1
          ? await call('POST', where, { data: first })
          : await call('POST', `${where}/batch`, { events: events.map((data) => ({ data })) })
      if (answer === undefined) return
      for (const [index, record] of records.entries()) {
        record.outcome = answer.status < 300 ? 'ok' : 'failed'
        record.id = answer.body.results?.[index]?.id ?? answer.body.id
      }
    }
  }
}

/** A text of the letters a and b: an automaton builds a new state at each of them. */
function lettersOf(length: number): string {
  const random = createRandom(12_345)
  return Array.from({ length }, () => (random.chance(0.5) ? 'a' : 'b')).join('')
}
