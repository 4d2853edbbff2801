import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import { findCounterFaults, findFaults, findStrayCalls, readEffects } from '../fixtures/effects.js'
import { inParallel } from '../fixtures/product.js'
import { createRandom } from '../storm/random.js'
import { killAndReplace } from './random-kills.js'
import type { Scenario } from './scene.js'

const rounds = 10
const eventsOfRound = 20
const random = createRandom(Number(process.env.TEST_SEED ?? 1))

export const suspensions: Scenario = {
  title:
    'a workspace suspended and resumed ten times, while workers are killed: what was accepted ends as if none had happened',
  async run(t, scene) {
    const { product, targets, call, database, workspaceId } = scene
    const actions = [
      { type: 'SEND_WEBHOOK', config: { url: `${targets.url}/webhook` } },
      { type: 'WAIT', config: { duration: '1s' } },
      { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: 'mail', template: 'plain' } },
      { type: 'CREATE_TASK', config: { title: 'Task' } },
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: {} } },
    ]
    const definition = { name: 'All kinds', trigger: 'LEAD_CREATED', actions }
    const { body: rule } = await call('POST', '/api/automation-rules', definition)
    const workers = await Promise.all([product.startWorker(), product.startWorker()])
    const suspension = `/api/developer/v1/workspaces/${workspaceId}/suspension`

    const accepted: string[] = []
    let refused = 0
    for (let round = 0; round < rounds; round++) {
      const killed = killAndReplace(scene, workers)
      const sent = inParallel(eventsOfRound, 4, async () => {
        const path = '/api/automation-rules/trigger/LEAD_CREATED'
        const { status, body } = await call(
          'POST',
          path,
          { data: { name: 'Ada' } },
          { prefer: 'respond-async' },
        )
        if (status === 403) refused++
        else accepted.push(executionIdOf({ id: body.id, addressee: null }, rule.id))
      })
      await delay(random.between(0, 100))
      t.match(await call('PUT', suspension), { status: 200, body: { suspendedAt: String } })
      // Long enough to be parked, or not.
      await delay(random.between(0, 3_000))
      t.match(await call('DELETE', suspension), { status: 200, body: { suspendedAt: null } })
      await Promise.all([sent, killed])
    }

    const effects = await readEffects(scene)
    t.strictSame(
      effects.executions.map(({ id }) => id).sort(),
      accepted.sort(),
      'each accepted event is one execution',
    )
    const faults = accepted.flatMap((executionId) => findFaults(effects, { executionId, actions }))
    t.strictSame(faults, [], 'and each has caused what it was to cause')
    t.strictSame(findStrayCalls(effects), [], 'every call came under the key of its execution and action')
    t.strictSame(findCounterFaults(effects), [], 'the counters are the rows')
    const own = database.forWorkspace(workspaceId)
    t.equal(await own.execution.count({ where: { parked: true } }), 0)
    t.equal(await own.event.count({ where: { parked: true } }), 0)
    t.comment(`${accepted.length} events were accepted, and ${refused} refused`)
  },
}
