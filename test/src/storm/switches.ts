import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'
import { createRandom, type Random } from './random.js'
import type { RuleToMake, StoredRule } from './rule-book.js'
import type { Site } from './site.js'

export interface Switches {
  /** How often a rule was switched off, with an acknowledgement. */
  count(): number
  /** One sentence for each switch-off that left something behind. */
  violations: string[]
  /** Switches the rules off for good. */
  stop(): Promise<void>
}

const types = ['LEAD_UPDATED', 'LEAD_DELETED', 'DEAL_LOST', 'CONTACT_UPDATED']
/** Of each rule: what the storm has no time for follows in the calm behind it. */
const leastRounds = 10
/** Of a round, one after the other until the switch-off is acknowledged: some are being recorded when it is committed. */
const mostEvents = 60
const spreadMs = 30
const againMs = 250
/** So long (ms) the events of a round have to be done; in the middle of a fault they may take longer, and nothing is compared. */
const settleMs = 20_000

/** Their executions wait for longer than the storm, so each of them is cancelled in the end. */
export const switchedRules = types.map((trigger): RuleToMake => {
  const wait = { type: 'WAIT', config: { duration: '30d' } }
  const task = { type: 'CREATE_TASK', config: { title: 'Never' } }
  return { name: 'Switched', trigger, conditions: [], actions: [wait, task] }
})

export const noSwitches: Switches = { count: () => 0, violations: [], stop: async () => {} }

/**
 * Switches rules off in the moment in which their events come, and on again, all through the storm. Once a switch-off is acknowledged, and the
 * events are done, nothing of the rule may be unfinished.
 */
export function startSwitches(site: Site, seed: number): Switches {
  const violations: string[] = []
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const { id: workspaceId, rules } = site.switched
  let count = 0
  const running = rules.map(run)
  return {
    count: () => count,
    violations,
    async stop() {
      stopping.abort()
      await Promise.all(running)
      for (const rule of rules) await set(rule, 0, false)
    },
  }

  async function run(rule: StoredRule, index: number): Promise<void> {
    for (let round = 0; !stopping.signal.aborted || round < leastRounds; round++) {
      const random = createRandom(seed, -3_000_000 - index * 100_000 - round)
      const api = random.between(0, site.apis.length - 1)
      const isOff = new AbortController()
      const posting = post(rule, random, api, isOff.signal)
      await delay(random.between(0, spreadMs))
      await set(rule, api, false)
      isOff.abort()
      count++
      await posting
      await compare(rule)
      await set(rule, api, true)
    }
  }

  async function post(
    { trigger }: StoredRule,
    random: Random,
    api: number,
    isOff: AbortSignal,
  ): Promise<void> {
    const path = `/api/automation-rules/trigger/${trigger}`
    const headers = { prefer: 'respond-async' }
    const events: Promise<unknown>[] = []
    while (!isOff.aborted && events.length < mostEvents) {
      events.push(ask(site, { api, workspaceId }, 'POST', path, { data: { name: 'switched' } }, headers))
      await delay(random.between(1, spreadMs))
    }
    await Promise.all(events)
  }

  /** Until it is acknowledged: it may be refused while executions are being cancelled. */
  async function set({ id }: StoredRule, api: number, isActive: boolean): Promise<void> {
    for (let attempt = api; ; attempt++) {
      const caller = { api: attempt % site.apis.length, workspaceId }
      const answer = await ask(site, caller, 'PUT', `/api/automation-rules/${id}`, { isActive })
      if (answer?.status === 200) return
      await delay(againMs)
    }
  }

  async function compare(rule: StoredRule): Promise<void> {
    const deadline = performance.now() + settleMs
    while (performance.now() < deadline) {
      const left = await countLeft(rule).catch(() => undefined)
      if (left?.events === 0 && left.cancellations === 0) {
        if (left.executions > 0)
          violations.push(`${left.executions} executions of ${rule.id} wait behind its switch-off`)
        return
      }
      await delay(againMs)
    }
  }

  /** In one moment. Cancellations are in progress: until they have ended, the rule cannot be switched on. */
  async function countLeft({ id, trigger }: StoredRule) {
    const [row] = await site.query<{ events: number; executions: number; cancellations: number }>(`
      SELECT (SELECT count(*) FROM events
              WHERE workspace_id = '${workspaceId}' AND type = '${trigger}' AND done_at IS NULL)::int AS events,
             (SELECT count(*) FROM executions WHERE handler_id = '${id}' AND finished_at IS NULL)::int AS executions,
             (SELECT count(*) FROM cancellations WHERE handler_id = '${id}')::int AS cancellations`)
    return row
  }
}
