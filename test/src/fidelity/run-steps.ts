import { Random } from '@automation/check/corpus'
import { until } from '../fixtures/product.js'
import { type Load, startLoad } from './load.js'
import { postedTypes, writeDefinition } from './rule-book.js'
import type { Site } from './site.js'
import { addRule, type Desk, steadyRules, steps } from './steps.js'

export interface StepOptions {
  seed: number
  events: number
  tell(line: string): void
}

/** How often each kind of step was done; kills included. */
export type StepCounts = Map<string, number>

const eventsPerStep = 250
const eventsPerKill = 8_000
const fewest = { steps: 160, kills: 4 }
const rulesAtFirst = 11
/** So far (in steps) the load may be behind before the next step waits for it. */
const patience = 8
const hopelessMs = 180_000

/**
 * Events are accepted and evaluated, while rules are edited, executions retried, events replayed and workers killed, each at its share of the events.
 *
 * @returns when nothing is left to do
 */
export async function runSteps(site: Site, { seed, events, tell }: StepOptions): Promise<StepCounts> {
  const desks = await openDesks(site, seed)
  const load = startLoad(
    site,
    seed,
    desks.map(({ rules }) => rules),
  )
  for (const [index, desk] of desks.entries())
    desk.pickEvent = () => {
      const ids = load.newestOf(index)
      return ids.length === 0 ? undefined : desk.random.pick(ids)
    }
  const random = new Random(seed)
  const names = Object.entries(steps).flatMap(([name, { weight }]) => Array<string>(weight).fill(name))
  const kinds = Object.keys(steps)
  const counts: StepCounts = new Map([...kinds, 'worker killed'].map((name) => [name, 0]))
  const count = Math.max(fewest.steps, Math.ceil(events / eventsPerStep))
  const kills = Math.max(fewest.kills, Math.ceil(events / eventsPerKill))
  let killing = Promise.resolve()
  for (let index = 0, killed = 0; index < count; index++) {
    load.release(Math.ceil((events * (index + 1)) / count))
    await waitForLoad(load, (events * (index - patience)) / count)
    // Each kind once, as far as it is possible by then: some seeds would never pick a rare one.
    const isLate = index >= count / 2 && index % 4 === 0
    const undone = isLate ? kinds.filter((kind) => counts.get(kind) === 0) : []
    const name = random.pick(undone.length > 0 ? undone : names)
    const isDone = await steps[name]?.run(desks[random.below(desks.length)] as Desk)
    if (isDone) counts.set(name, (counts.get(name) ?? 0) + 1)
    if ((index + 1) / count < (killed + 1) / kills) continue
    tell(`${load.accepted()} events accepted; kill ${++killed} of ${kills}`)
    killing = killing.then(() => site.killWorker(random.below(2)))
    counts.set('worker killed', killed)
  }
  await killing
  await waitForLoad(load, events)
  await load.stop()
  tell('all accepted')
  await drain(site)
  return counts
}

async function openDesks({ tenants }: Site, seed: number): Promise<Desk[]> {
  return Promise.all(
    tenants.map(async (tenant, index) => {
      const desk: Desk = { tenant, rules: [], random: new Random(seed + index), pickEvent: () => undefined }
      for (let rule = 0; rule < rulesAtFirst; rule++) {
        const trigger = rule < steadyRules ? postedTypes[rule] : undefined
        await addRule(desk, writeDefinition(desk.random, trigger), rule % 3 === 0)
      }
      return desk
    }),
  )
}

async function waitForLoad(load: Load, count: number): Promise<void> {
  let [last, since] = [load.accepted(), performance.now()]
  await until(async () => {
    const now = load.accepted()
    if (now > last) [last, since] = [now, performance.now()]
    if (performance.now() - since > hopelessMs) throw new Error(`Nothing is accepted after ${now} events`)
    return now >= count
  })
}

async function drain({ query }: Site): Promise<void> {
  let [last, since] = [Number.POSITIVE_INFINITY, performance.now()]
  await until(async () => {
    const [row] = await query<{ open: number }>(`
      SELECT ((SELECT count(*) FROM events WHERE done_at IS NULL)
            + (SELECT count(*) FROM executions WHERE finished_at IS NULL))::int AS open`)
    const open = row?.open ?? 0
    if (open < last) [last, since] = [open, performance.now()]
    if (performance.now() - since > hopelessMs) throw new Error(`${open} are never done`)
    return open === 0
  })
}
