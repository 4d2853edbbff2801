import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { evaluatorLimits } from '../../src/evaluation/evaluator.js'
import { askPatiently, rules, startApi } from '../fixtures/api.js'
import { measureHold } from '../fixtures/hold.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
// A check ends before its response is due, also on a busy machine.
const api = await startApi(
  t,
  {},
  { evaluation: { ...evaluatorLimits, work: 1_000_000_000, timeoutMs: 4_000 } },
)

// Not 50 ms, as for dry runs and explanations (evaluator.test.ts): texts of 16 MiB go to the child process, which takes 33 ms on an idle machine and more on a slow
// one. `npm run bench -- neighbours` shows how long others wait.

/** How long (ms) this process takes for some work now, on a machine that is as busy as during the test: the median of five. */
function measure(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    work()
    return performance.now() - startedAt
  })
  return times.toSorted((left, right) => left - right)[2] ?? 0
}

t.test('the fields of events of a megabyte are surveyed without holding the API', async (t) => {
  const { id: workspaceId, database, call } = await api.makeWorkspace()
  const data = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, { a: n }]))
  for (let n = 0; n < 4; n++)
    await database.event.create({
      data: { id: newId(), workspaceId, type: 'DEAL_WON', data, doneAt: new Date() },
    })
  const path = '/api/event-types/DEAL_WON/fields'
  // The first request starts the child process.
  await call('GET', '/api/event-types/LEAD_CREATED/fields')
  const { result, heldMs, tookMs } = await measureHold(() => call<{ events: number }>('GET', path))
  t.match(result, { status: 200, body: { eventType: 'DEAL_WON', hasMorePaths: true } })
  t.ok(result.body.events > 0)
  const written = JSON.stringify(data)
  const parseMs = measure(() => JSON.parse(written))
  t.comment(
    `held ${Math.round(heldMs)} of ${Math.round(tookMs)} ms; to parse one event takes ${Math.round(parseMs)} ms`,
  )
  t.ok(
    heldMs < 4 * parseMs,
    `the event loop was held for ${heldMs} ms; the four events take ${4 * parseMs} ms to parse`,
  )
})

t.test('the check of a workspace with 16 MiB of rules does not hold the API', async (t) => {
  const { id: workspaceId, database, call } = await api.makeWorkspace()
  const conditions = Array.from({ length: 50 }, (_, n) => ({
    field: `field${n}`,
    operator: 'in',
    value: Array.from({ length: 100 }, (_, m) => `a value of a list that is long enough ${n} ${m}`),
  }))
  const count = 66
  for (let n = 0; n < count; n++)
    await database.rule.create({
      data: {
        id: newId(),
        workspaceId,
        name: `Rule ${n}`,
        description: '',
        trigger: 'LEAD_CREATED',
        conditions,
        actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
        isActive: true,
        counters: { create: { workspaceId } },
      },
    })
  const json = JSON.stringify(Array(count).fill(conditions))
  const ask = () => askPatiently(() => call<{ notKnown: object[] }>('POST', `${rules}/check`, { body: {} }))
  await call('POST', `${rules}/check`, { body: { rules: [] } })
  const { result, heldMs, tookMs } = await measureHold(ask)
  t.ok(
    result.status === 200 || result.status === 400,
    `${result.status} ${JSON.stringify(result.body).slice(0, 200)}`,
  )
  const definitions = JSON.parse(json)
  const cloneMs = measure(() => structuredClone(definitions))
  t.comment(
    `${json.length} bytes: held ${Math.round(heldMs)} of ${Math.round(tookMs)} ms; to clone them takes ${Math.round(cloneMs)} ms`,
  )
  t.ok(heldMs < cloneMs, `the event loop was held for ${heldMs} ms; the rules take ${cloneMs} ms to clone`)
})

t.test(
  'ten times as many faults in one event of a batch hold the API for about ten times as long',
  async (t) => {
    const { call } = await api.makeWorkspace()
    const ask = async (count: number) => {
      const unknown = Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, 0]))
      const body = { events: [{ data: {}, ...unknown }] }
      const path = `${rules}/trigger/LEAD_CREATED/batch`
      const { result, heldMs } = await measureHold(() => call<Batch>('POST', path, { body }))
      t.equal(result.status, 202)
      t.equal(result.body.results[0]?.errors.length, count)
      return heldMs
    }
    await ask(1_999)
    const few = await ask(1_999)
    const many = await ask(19_990)
    t.ok(many < 40 * few, `${few} ms, and ${many} ms`)
  },
)

interface Batch {
  results: { errors: object[] }[]
}
