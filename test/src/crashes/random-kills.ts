import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import type { NodeProcess } from '@automation/launcher'
import { findCounterFaults, findFaults, findStrayCalls, readEffects } from '../fixtures/effects.js'
import { inParallel } from '../fixtures/product.js'
import { createRandom } from '../storm/random.js'
import type { Scenario, Scene } from './scene.js'

const events = 300
const kills = 10
const random = createRandom(Number(process.env.TEST_SEED ?? 1))

export const randomKills: Scenario = {
  title: 'workers killed ten times, at random moments of 300 events: every run ends as if none was',
  async run(t, scene) {
    const { product, targets, call } = scene
    const actions = [
      { type: 'SEND_WEBHOOK', config: { url: `${targets.url}/webhook` } },
      { type: 'CREATE_TASK', config: { title: 'First' } },
      { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: 'mail', template: 'plain' } },
      { type: 'WAIT', config: { duration: '1s' } },
      { type: 'CREATE_TASK', config: { title: 'Second' } },
    ]
    const definition = { name: 'All kinds', trigger: 'LEAD_CREATED', actions }
    const { body: rule } = await call('POST', '/api/automation-rules', definition)
    const workers = await Promise.all([product.startWorker(), product.startWorker()])

    const accepted: string[] = []
    for (let round = 0; round < kills; round++) {
      const killed = killAndReplace(scene, workers)
      await inParallel(events / kills, 8, async () => {
        const path = '/api/automation-rules/trigger/LEAD_CREATED'
        const { body } = await call('POST', path, { data: { name: 'Ada' } }, { prefer: 'respond-async' })
        accepted.push(executionIdOf({ id: body.id, addressee: null }, rule.id))
      })
      await killed
    }

    const effects = await readEffects(scene)
    t.strictSame(
      effects.executions.map(({ id }) => id).sort(),
      accepted.sort(),
      'each event is one execution',
    )
    const faults = accepted.flatMap((executionId) => findFaults(effects, { executionId, actions }))
    t.strictSame(faults, [], 'and each has caused what it was to cause')
    t.strictSame(findStrayCalls(effects), [], 'every call came under the key of its execution and action')
    t.strictSame(findCounterFaults(effects), [], 'the counters are the rows')
    const repeats = effects.calls.filter(({ time }) => time > 1).length
    t.comment(`${effects.calls.length} calls, of which ${repeats} were repeats`)
  },
}

/** The older of the two that are there. */
export async function killAndReplace({ product }: Scene, workers: NodeProcess[]): Promise<void> {
  await delay(random.between(0, 200))
  const oldest = workers.shift()
  oldest?.kill('SIGKILL')
  await oldest?.exited
  workers.push(await product.startWorker())
}
