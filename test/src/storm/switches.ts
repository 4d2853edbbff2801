import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'
import { createRandom, type Random } from './random.js'
import type { RuleToMake } from './rule-book.js'
import type { Site } from './site.js'

export interface Switches {
  /** How often the rule was switched off, with an acknowledgement. */
  count(): number
  /** One sentence for each switch-off that left something behind. */
  violations: string[]
  /** Switches the rule off for good. */
  stop(): Promise<void>
}

const type = 'LEAD_UPDATED'
const mostEvents = 6
const spreadMs = 30
const againMs = 250
/** So long (ms) the events of a round have to be done; in the middle of a fault they may take longer, and nothing is compared. */
const settleMs = 20_000

/** Its executions wait for longer than the storm, so each of them is cancelled in the end. */
export const switchedRule: RuleToMake = {
  name: 'Switched',
  trigger: type,
  conditions: [],
  actions: [
    { type: 'WAIT', config: { duration: '30d' } },
    { type: 'CREATE_TASK', config: { title: 'Never' } },
  ],
}

/**
 * Switches a rule off in the moment in which its events come, and on again, all through the storm. Once a switch-off is acknowledged, and all
 * events are done, nothing of the rule may be unfinished.
 */
export function startSwitches(site: Site, seed: number): Switches {
  const violations: string[] = []
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const { id: workspaceId, rules } = site.switched
  const path = `/api/automation-rules/${rules[0]?.id}`
  let count = 0
  const running = run()
  return {
    count: () => count,
    violations,
    async stop() {
      stopping.abort()
      await running
      await set(0, false)
    },
  }

  async function run(): Promise<void> {
    for (let round = 0; !stopping.signal.aborted; round++) {
      const random = createRandom(seed, -3_000_000 - round)
      const api = random.between(0, site.apis.length - 1)
      const posting = Promise.all(
        Array.from({ length: random.between(1, mostEvents) }, () => post(random, api)),
      )
      await delay(random.between(0, spreadMs))
      await set(api, false)
      count++
      await posting
      await compare(round)
      await set(api, true)
    }
  }

  async function post(random: Random, api: number): Promise<void> {
    await delay(random.between(0, spreadMs))
    const body = { data: { name: 'switched' } }
    const headers = { prefer: 'respond-async' }
    await ask(site, { api, workspaceId }, 'POST', `/api/automation-rules/trigger/${type}`, body, headers)
  }

  /** Until it is acknowledged: it may be refused while executions are being cancelled. */
  async function set(api: number, isActive: boolean): Promise<void> {
    for (let attempt = api; ; attempt++) {
      const caller = { api: attempt % site.apis.length, workspaceId }
      if ((await ask(site, caller, 'PUT', path, { isActive }))?.status === 200) return
      await delay(againMs)
    }
  }

  async function compare(round: number): Promise<void> {
    const deadline = performance.now() + settleMs
    while (performance.now() < deadline) {
      const left = await countLeft().catch(() => undefined)
      if (left?.events === 0 && left.cancellations === 0) {
        if (left.executions > 0)
          violations.push(`switch-off ${round}: ${left.executions} executions wait behind it`)
        return
      }
      await delay(againMs)
    }
  }

  /** In one moment. Cancellations are in progress: until they have ended, the rule cannot be switched on. */
  async function countLeft() {
    const where = `workspace_id = '${workspaceId}'`
    const [row] = await site.query<{ events: number; executions: number; cancellations: number }>(`
      SELECT (SELECT count(*) FROM events WHERE ${where} AND done_at IS NULL)::int AS events,
             (SELECT count(*) FROM executions WHERE ${where} AND finished_at IS NULL)::int AS executions,
             (SELECT count(*) FROM cancellations WHERE ${where})::int AS cancellations`)
    return row
  }
}
