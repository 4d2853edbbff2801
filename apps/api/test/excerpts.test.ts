import { newId } from '@automation/database'
import t from 'tap'
import { excerptOf } from '../src/lists/excerpt.js'
import { startApi } from './fixtures/api.js'
import { storeEvent, storeExecution, storeRule } from './fixtures/history.js'

const api = await startApi(t)

interface Listed {
  id: string
  excerpt?: Record<string, unknown>
}

t.test('a list tells some of the data of each event, if it is asked to', async (t) => {
  const workspace = await api.makeWorkspace()
  const stranger = await api.makeWorkspace()
  const { id: ruleId } = await storeRule(workspace)
  const event = await storeEvent(workspace, { data: { name: 'Ada', lead: { score: 95 } } })
  const large = await storeEvent(workspace, { data: { name: 'Bo', text: 'x'.repeat(20_000) } })
  await storeEvent(stranger, { data: { name: 'Eve' } })
  const execution = await storeExecution(workspace, event, ruleId)
  const list = async (path: string) =>
    (await workspace.call<Record<string, Listed[]>>('GET', path)).body as Record<string, Listed[]>
  const told = { name: 'Ada', 'lead.score': 95 }
  const { events } = await list('/api/events?excerpt=true')
  t.strictSame(
    events?.map(({ id, excerpt }) => [id, excerpt]),
    [
      [large.id, {}],
      [event.id, told],
    ],
  )
  const { executions } = await list('/api/executions?excerpt=true')
  t.strictSame(
    executions?.map(({ id, excerpt }) => [id, excerpt]),
    [[execution.id, told]],
  )
  for (const path of ['/api/events', '/api/executions', '/api/events?excerpt=false'])
    for (const row of Object.values(await list(path)).flat())
      if (row !== null) t.notOk('excerpt' in row, path)
  const body = { conditions: [{ field: 'name', operator: 'equals', value: 'Ada' }], excerpt: true }
  const found = await workspace.call<{ events: Listed[] }>('POST', '/api/events/search', { body })
  t.strictSame(
    found.body.events.map(({ excerpt }) => excerpt),
    [told],
  )
})

t.test('an excerpt has the first plain values, and is short whatever the data', async (t) => {
  t.strictSame(excerptOf({ a: { b: 1, c: [2], d: { e: 3 } }, f: null, g: '', h: 'x', i: false }), {
    h: 'x',
    i: false,
    'a.b': 1,
  })
  t.strictSame(excerptOf({ [`${'k'.repeat(70)}`]: 1, text: '😀'.repeat(200) }), {
    text: `${'😀'.repeat(80)}…`,
  })
  t.equal(
    Object.keys(excerptOf(Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`f${i}`, i])))).length,
    12,
  )
  const hostile = excerptOf(JSON.parse('{"__proto__":"x","a":{"__proto__":{"b":1}}}'))
  t.strictSame(Object.entries(hostile), [['__proto__', 'x']])
})

t.test('some chosen executions and events are retried, cancelled and replayed, and no others', async (t) => {
  const workspace = await api.makeWorkspace()
  const stranger = await api.makeWorkspace()
  const { id: ruleId } = await storeRule(workspace)
  const events = []
  const failed = []
  const waiting = []
  for (let index = 0; index < 3; index++) {
    const event = await storeEvent(workspace)
    events.push(event.id)
    failed.push((await storeExecution(workspace, event, ruleId, { status: 'failed', error: 'HTTP 500' })).id)
    waiting.push(
      (await storeExecution(workspace, await storeEvent(workspace), ruleId, { status: 'waiting' })).id,
    )
  }
  const act = (path: string, ids: unknown, dryRun = false, one = workspace) =>
    one.callAs('operator')<Record<string, unknown>>('POST', path, { body: { filter: { ids }, dryRun } })
  for (const [path, ids, done, others] of [
    ['/api/executions/retry', failed, 'retried', waiting],
    ['/api/executions/cancel', waiting, 'cancelled', events],
    ['/api/events/replay', events, 'replayed', failed],
  ] as const) {
    const chosen = [ids[0], ids[2]?.toUpperCase()]
    t.match((await act(path, chosen, true)).body, { matched: 2 }, path)
    t.match((await act(path, chosen, false, stranger)).body, { matched: 0 }, `${path} of another workspace`)
    t.match((await act(path, others)).body, { matched: 0 }, `${path} of others`)
    t.match(await act(path, chosen), { status: 202, body: { matched: 2, [done]: 2 } })
    t.match(await act(path, ['x']), {
      status: 422,
      body: { errors: [{ field: 'filter.ids', message: 'Must be UUIDs' }] },
    })
    t.match(await act(path, []), { status: 422 })
    t.match(await act(path, Array.from({ length: 251 }, newId)), { status: 422 })
  }
  const { database } = workspace
  const statusOf = async (id = '') => (await database.execution.findUnique({ where: { id } }))?.status
  t.equal(await statusOf(failed[1]), 'failed')
  t.equal(await statusOf(waiting[1]), 'waiting')
  const replays = await database.event.findMany({ where: { replayOf: { not: null } } })
  t.same(replays.map(({ replayOf }) => replayOf).toSorted(), [events[0], events[2]].toSorted())
})
