import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openCuttingProxy } from './fixtures/cutting-proxy.js'
import { startOwnProduct } from './fixtures/product.js'

const { product, options } = await startOwnProduct(t, { workers: 0 })
const proxy = await openCuttingProxy(t, options.baseUrl)
const client = createClient({ ...options, baseUrl: proxy.baseUrl })

const task = { type: 'CREATE_TASK', config: { title: '{{name}}' } } as const

t.beforeEach(() => {
  proxy.answered.length = 0
})

t.test('a rule exists once if the response to its creation was lost', async (t) => {
  proxy.cut = 'after the answer'
  const rule = await client.rules.create({ name: 'Call', trigger: 'LEAD_CREATED', actions: [task] })
  t.same(proxy.answered, [
    { status: 201, isReplayed: false },
    { status: 201, isReplayed: true },
  ])
  t.same(await client.rules.list().all(), [rule])
  proxy.cut = 'after the answer'
  const copy = await client.rules.clone(rule.id)
  t.equal((await client.rules.list().all()).length, 2, 'so does its clone')
  await client.rules.delete(copy.id)
})

t.test('after a broken connection, the client repeats the request until the outcome is there', async (t) => {
  proxy.cut = 'before the answer'
  const run = client.trigger('LEAD_CREATED', { name: 'Ada' }, { wait: 30 })
  // There is no worker yet: while the first request waits, the second one gets a 409 because the first is still running.
  while (!proxy.answered.some(({ status }) => status === 409)) await new Promise(setImmediate)
  await product.startWorker()
  matchLists(t, await run, { status: 'done', isReplayed: true, triggered: 1, results: [{ success: true }] })
  t.same(
    (await client.tasks.list().all()).map(({ title }) => title),
    ['Ada'],
  )
})

t.test('an event creates one task if the response was lost', async (t) => {
  for (const cut of ['before the answer', 'after the answer'] as const) {
    for (const wish of [{}, { async: true }]) {
      const name = `Bo ${cut} ${JSON.stringify(wish)}`
      proxy.cut = cut
      const { id } = await client.trigger('LEAD_CREATED', { name }, wish)
      t.match(await client.events.waitUntilDone(id), { status: 'done', data: { name } })
      const titles = (await client.tasks.list().all()).map(({ title }) => title)
      t.equal(titles.filter((title) => title === name).length, 1, name)
    }
  }
  const events = await client.events.list().all()
  t.equal(events.length, 5, 'each request was one event')
})

t.test('a rule executed by hand, and an event replayed, run once', async (t) => {
  const [rule] = await client.rules.list().all()
  const [event] = await client.events.list().all()
  proxy.cut = 'after the answer'
  const execution = await client.rules.execute(rule?.id ?? '', { name: 'Cy' })
  t.match(execution, { status: 'done', isReplayed: true, success: true, actionsExecuted: 1 })
  t.match(await client.executions.get(execution.id), { status: 'succeeded', ruleId: rule?.id })
  proxy.cut = 'after the answer'
  t.match(await client.events.replay(event?.id ?? ''), { status: 'done', isReplayed: true, triggered: 1 })
  const titles = (await client.tasks.list().all()).map(({ title }) => title)
  t.equal(titles.length, 7, 'five before, and one for each')
})

t.test('a deletion succeeds if its response was lost', async (t) => {
  const [rule] = await client.rules.list().all()
  proxy.cut = 'after the answer'
  await client.rules.delete(rule?.id ?? '')
  t.same(
    proxy.answered.slice(-2).map(({ status }) => status),
    [204, 404],
  )
  t.same(await client.rules.list().all(), [])
})
