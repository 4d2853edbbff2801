import { setTimeout as delay } from 'node:timers/promises'
import type { RunningProduct } from '../../fixtures/product.js'
import type { Random } from '../random.js'

/** A rule that runs at the multiples of some seconds. */
export interface ScheduledRule {
  id: string
  periodMs: number
  /** By Postgres' clock: its ticks are later. */
  createdAt: number
  /** Whether somebody switches it on and off. */
  isSwitched: boolean
  /** From the response that it was off to the request that switched it on (epoch ms). */
  pauses: [from: number, to: number][]
}

/** Of all rules, so many are switched, and others renamed. */
const switchedShare = 0.2
/** The clocks of this process and of Postgres are those of one machine; this is how long they may disagree (ms). */
const marginMs = 50

/** Creates rules by the API, then gives them periods that it would refuse. */
export async function makeScheduledRules(
  { client, database }: RunningProduct,
  count: number,
  random: Random,
): Promise<ScheduledRule[]> {
  const rules: ScheduledRule[] = []
  for (let index = 0; index < count; index++) {
    const { id } = await client.rules.create({
      name: `Rule ${index}`,
      trigger: 'SCHEDULE',
      schedule: { every: '1h' },
      actions: [{ type: 'CREATE_TASK', config: { title: '{{scheduledAt}}' } }],
    })
    const seconds = random.pick([3, 4, 5, 7])
    const [row] = await database.system.$queryRaw<{ createdAt: number }[]>`
      WITH clock AS (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now)
      UPDATE rules SET schedule = ${JSON.stringify({ every: `${seconds}s` })}::json,
        scheduled_since = to_timestamp(now / 1000),
        next_run_at = to_timestamp((floor(now / ${seconds * 1_000}::float8) + 1) * ${seconds}::float8)
      FROM clock WHERE id = ${id}::uuid RETURNING now AS "createdAt"`
    const createdAt = (row as { createdAt: number }).createdAt
    rules.push({
      id,
      periodMs: seconds * 1_000,
      createdAt,
      isSwitched: random.chance(switchedShare),
      pauses: [],
    })
  }
  return rules
}

/** Renames rules, and switches some of them off and on, until it is stopped. */
export function startChanges({ client }: RunningProduct, rules: readonly ScheduledRule[], random: Random) {
  let isStopped = false
  let changes = 0
  const change = async () => {
    const rule = random.pick(rules)
    if (!rule.isSwitched) {
      await client.rules.update(rule.id, { name: `Renamed ${changes}` })
      changes++
      return
    }
    // A switch without an answer may have been made: nothing is said of the time after it.
    await client.rules.deactivate(rule.id)
    const from = Date.now() + marginMs
    await delay(random.between(500, 6_000))
    const to = Date.now() - marginMs
    rule.pauses.push([from, to])
    while (
      !isStopped &&
      !(await client.rules.activate(rule.id).then(
        () => true,
        () => false,
      ))
    )
      await delay(200)
    changes++
  }
  const running = (async () => {
    while (!isStopped) {
      await change().catch(() => {})
      await delay(random.between(50, 500))
    }
  })()
  return {
    count: () => changes,
    async stop() {
      isStopped = true
      await running
    },
  }
}
