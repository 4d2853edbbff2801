import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, startApi, type Workspace } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

const path = '/api/event-types'
const rules = '/api/automation-rules'
const paid = { name: 'PAYMENT_FAILED', description: 'A card was declined.' }
const post = ({ call }: Workspace, type: string, data: object = {}) =>
  call<{ triggered: number }>('POST', `${rules}/trigger/${type}`, { body: { data } })

t.test('a type of its own works in rules, triggers, batches, EMIT_EVENT and lists', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const unknown = { status: 400, body: { error: 'Invalid trigger type' } }
  t.match(await post(workspace, paid.name), unknown)
  t.match(await call('POST', rules, { body: ruleBody({ trigger: paid.name }) }), unknown)
  t.match(await call('POST', path, { body: paid }), {
    status: 201,
    headers: { location: `${path}/${paid.name}` },
    body: paid,
  })
  t.match(await call('POST', rules, { body: ruleBody({ trigger: paid.name }) }), { status: 201 })
  t.match(await post(workspace, paid.name), { status: 200, body: { triggered: 1 } })
  const batch = await call('POST', `${rules}/trigger/${paid.name}/batch`, {
    body: { events: [{ data: {} }] },
  })
  t.match(batch, { status: 202, body: { accepted: 1 } })
  const emit = { type: 'EMIT_EVENT', config: { eventType: paid.name } }
  t.match(await call('POST', rules, { body: ruleBody({ actions: [emit] }) }), { status: 201 })
  t.match(await post(workspace, 'LEAD_CREATED'), { status: 200 })
  t.match(await call('GET', `/api/events?eventType=${paid.name}`), {
    status: 200,
    body: { events: [{ type: paid.name }] },
  })
  t.match(await call('GET', `${rules}?eventType=${paid.name}`), { status: 200, body: { rules: [{}] } })
  t.match(await call('GET', '/api/executions?eventType=NOT_THERE'), { status: 400 })
  const stranger = await api.makeWorkspace()
  t.match(await post(stranger, paid.name), unknown)
  const near = (field: string) => ({
    ...unknown,
    headers: { link: new RegExp(`title="Nearest: ${paid.name}.*"; field="${field}"$`) },
  })
  t.match(await post(workspace, 'PAYMENT_FAILD'), near('eventType'), 'types of its own are named, too')
  t.match(await call('POST', rules, { body: ruleBody({ trigger: 'PAYMENT_FAILD' }) }), near('trigger'))
})

t.test('an action that emits an unknown type is a fault of the rule', async (t) => {
  const { call } = await api.makeWorkspace()
  const actions = [{ type: 'EMIT_EVENT', config: { eventType: 'NOT_THERE' } }]
  t.match(await call('POST', rules, { body: ruleBody({ actions }) }), {
    status: 422,
    body: { errors: [{ field: 'actions[0].config.eventType' }] },
  })
})

t.test('a type cannot be deleted while a rule uses it, nor made twice, nor like the catalogue', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  await call('POST', path, { body: { name: paid.name } })
  const emit = { type: 'EMIT_EVENT', config: { eventType: paid.name } }
  const byTrigger = await call<{ id: string }>('POST', rules, { body: ruleBody({ trigger: paid.name }) })
  const byAction = await call<{ id: string }>('POST', rules, { body: ruleBody({ actions: [emit] }) })
  for (const { body } of [byTrigger, byAction]) {
    t.match(await call('DELETE', `${path}/${paid.name}`), { status: 409 })
    t.match(await call('DELETE', `${rules}/${body.id}`), { status: 204 })
  }
  const settings = { types: { push: 'LEAD_CREATED', charge: paid.name } }
  const secret = { provider: 'shop', scheme: 'github', settings }
  const secrets = '/api/developer/v1/signing-secrets'
  const { body: stored } = await call<{ id: string }>('POST', secrets, { body: secret })
  t.match(await call('DELETE', `${path}/${paid.name}`), {
    status: 409,
    body: { error: `A signing secret makes events of this type: ${stored.id}` },
  })
  t.match(await call('DELETE', `${secrets}/${stored.id}`), { status: 204 })
  for (const name of [paid.name, 'LEAD_CREATED'])
    t.match(await call('POST', path, { body: { name } }), { status: 409 })
  t.match(await call('DELETE', `${path}/${paid.name}`), { status: 204 })
  t.match(await call('DELETE', `${path}/${paid.name}`), { status: 404 })
  t.match(await call('DELETE', `${path}/LEAD_CREATED`), { status: 409 })
  t.match(await post(workspace, paid.name), { status: 400 })
  for (const name of ['lower', '1ST', 'A', 'A-B', `A${'B'.repeat(64)}`, 7])
    t.match(await call('POST', path, { body: { name } }), { status: 422 })
  const actions = (await workspace.database.auditEntry.findMany({ where: { subject: paid.name } })).map(
    ({ action }) => action,
  )
  t.same(actions.sort(), ['event_type.created', 'event_type.deleted'])
})

t.test('types are listed in pages, those of the catalogue first, and are in the vocabulary', async (t) => {
  const { call, callAs } = await api.makeWorkspace()
  const plain = await call<{ eventTypes: object[] }>('GET', '/api/vocabulary')
  for (const name of ['ZEBRA_SEEN', paid.name]) await call('POST', path, { body: { name } })
  const names: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await callAs('viewer')<{ eventTypes: { name: string }[]; nextCursor: string | null }>(
      'GET',
      `${path}?limit=10${query}`,
    )
    names.push(...body.eventTypes.map(({ name }) => name))
    cursor = body.nextCursor
  }
  t.equal(names.length, plain.body.eventTypes.length + 2)
  t.same(names.slice(-2), [paid.name, 'ZEBRA_SEEN'])
  const vocabulary = await call<{ eventTypes: { type: string }[] }>('GET', '/api/vocabulary')
  t.same(
    vocabulary.body.eventTypes.map(({ type }) => type),
    names,
  )
  t.match(await call('GET', `${path}?cursor=x`), { status: 400 })
  t.match(await callAs('operator')('POST', path, { body: paid }), { status: 403 })
  t.match(await callAs('operator')('DELETE', `${path}/${paid.name}`), { status: 403 })
})

t.test('a known type costs no statement beyond one a second', async (t) => {
  const workspace = await api.makeWorkspace()
  await workspace.call('POST', path, { body: paid })
  await post(workspace, paid.name)
  let reads = 0
  const { database } = api.app
  const original = database.forWorkspace
  t.intercept(database, 'forWorkspace', {
    value: (id: string) => {
      reads++
      return original(id)
    },
  })
  for (let n = 0; n < 20; n++) t.match(await post(workspace, paid.name), { status: 200 })
  t.ok(reads <= 3, `${reads} reads for 20 events`)
})

t.test(
  'the nearest names are found for a few unknown types only, and a set of rules costs one look-up',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const emit = { type: 'EMIT_EVENT', config: { eventType: 'NOT_THERE' } }
    const { status, body } = await workspace.call<{ errors: { message: string }[] }>(
      'POST',
      `${rules}/validate`,
      { body: ruleBody({ actions: Array(12).fill(emit) }) },
    )
    t.equal(status, 422)
    const isExplained = ({ message }: { message: string }) => message.includes('catalogue')
    t.strictSame([body.errors.length, body.errors.filter(isExplained).length], [12, 5])
    const set = Array.from({ length: 300 }, () => ruleBody({ trigger: 'NOT_THERE' }))
    const reads: string[] = []
    const readOwn = api.app.eventTypes.readOwn.bind(api.app.eventTypes)
    api.app.eventTypes.readOwn = (id) => {
      reads.push(id)
      return readOwn(id)
    }
    const checked = await workspace.call<{ errors: object[] }>('POST', `${rules}/check`, {
      body: { rules: set },
    })
    api.app.eventTypes.readOwn = readOwn
    t.strictSame([checked.status, checked.body.errors.length, reads], [422, 300, [workspace.id]])
  },
)
