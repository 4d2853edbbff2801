import type { ApiProcess } from '@automation/launcher'
import type { ProductPlan } from '../benchmark.js'
import { withConnections } from '../connections.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { waitsOf } from '../statistics.js'
import { type ExplainedEvent, prepareEvent } from './explained-event.js'
import { aimsOf, type Explained, formatExplained } from './report.js'
import { readLoopMs } from './thread-time.js'

interface Target {
  label: string
  rules: number
  /** Rules on a page. */
  limit: number
}

/** The default page, and the largest one. */
const targets: Target[] = [10, 100, 1_000].flatMap((rules) =>
  [20, 100]
    .filter((limit) => limit === 20 || rules >= 100)
    .map((limit) => ({ label: `${rules.toLocaleString('en-US')} rules, pages of ${limit}`, rules, limit })),
)
const warmUps = 5

/** How long callers wait for the first page of `why`, one after the other, and what that costs the API. */
export function planWhy({ rounds, seconds, only }: Options): ProductPlan {
  const chosen = targets.filter(({ label }) => label.includes(only))
  if (chosen.length === 0) throw new Error(`--only ${only} is in no label`)
  return {
    workers: 1,
    run: (product) =>
      withConnections(product, async (connections) => {
        const [api] = product.apis
        if (api === undefined) throw new Error('The product has not started')
        const events = new Map<number, ExplainedEvent>()
        for (const rules of new Set(chosen.map((target) => target.rules)))
          events.set(rules, await prepareEvent(connections, product, rules))
        const figures = await takeTurns(chosen, rounds, async (target, round) => {
          const event = events.get(target.rules) as ExplainedEvent
          const explained = await measureTarget(api, event, target, seconds)
          const { p50Ms, p95Ms } = explained.waits
          console.error(
            `round ${round}/${rounds}  ${target.label}  p50 ${p50Ms.toFixed(1)}, p95 ${p95Ms.toFixed(1)} ms`,
          )
          return explained
        })
        const results = [...figures.values()].flat()
        return { results, aims: aimsOf(results), text: formatExplained(results) }
      }),
  }
}

async function measureTarget(
  api: ApiProcess,
  { workspace, id }: ExplainedEvent,
  { label, rules, limit }: Target,
  seconds: number,
): Promise<Explained> {
  const path = `${workspace.baseUrl}/api/events/${id}/why?limit=${limit}`
  const expected = Math.min(rules, limit)
  for (let count = 0; count < warmUps; count++) await ask(path, workspace.headers, expected)
  const waits: number[] = []
  const loopBefore = readLoopMs(api.pid)
  const startedAt = performance.now()
  for (let askedAt = startedAt; askedAt < startedAt + seconds * 1_000; ) {
    await ask(path, workspace.headers, expected)
    const now = performance.now()
    waits.push(now - askedAt)
    askedAt = now
  }
  const loopMs = (readLoopMs(api.pid) - loopBefore) / waits.length
  return { label, rules, limit, waits: waitsOf(waits), loopMs }
}

/** A page that ends before its limit would look fast. */
async function ask(path: string, headers: Record<string, string>, expected: number): Promise<void> {
  const { 'content-type': _, ...others } = headers
  const response = await fetch(path, { headers: others })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`why got ${response.status} ${text}`)
  const { rules } = JSON.parse(text) as { rules: object[] }
  if (rules.length !== expected) throw new Error(`A page has ${rules.length} of ${expected} rules`)
}
