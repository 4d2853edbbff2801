import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, rules, startApi, task } from './fixtures/api.js'
import { makeSender } from './fixtures/sender.js'
import { startWorker } from './fixtures/worker.js'

process.env.OUTBOUND_ALLOW = '127.0.0.0/8'

const directory = t.testdir({ mail: {} })
const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
await startWorker(t, api.config, directory, 'worker', {
  OUTBOUND_ALLOW: '127.0.0.0/8',
  OUTBOUND_PORTS: '1-65535',
})

const trigger = `${rules}/trigger/LEAD_CREATED`
const message = 'Has more digits than a number can keep, so it was stored as a string with the same digits'
const fault = 'Has more digits than a number can keep. Write it as a string, or with at most 15 digits'
const long = ['8202522731445525542', '12345678901234567.89', '100000000000000000000000', '-9007199254740993']
const warned = (...fields: string[]) => ({ warnings: fields.map((field) => ({ field, message })) })

/** A receiver of calls, and the calls. */
async function listen() {
  const calls: { url: string | undefined; body: string }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      calls.push({ url: request.url, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

t.test(
  'a number of an event with more digits than a double keeps travels as text through everything',
  async (t) => {
    const { call, database } = await api.makeWorkspace()
    const { url, calls } = await listen()
    const actions = [
      { type: 'CREATE_TASK', config: { title: 'Call {{id}} {{all | json}}' } },
      {
        type: 'SEND_WEBHOOK',
        config: { url: `${url}/{{id | urlencode}}`, body: { id: '{{id}}', text: 'id {{id}}' } },
      },
      { type: 'SEND_WEBHOOK', config: { url } },
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { id: '{{id}}' } } },
    ]
    for (const id of long) {
      calls.length = 0
      const conditions = [{ field: 'id', operator: 'equals', value: id }]
      const { body: rule } = await call<Rule>('POST', rules, {
        body: { name: id, trigger: 'LEAD_CREATED', conditions, actions },
      })
      const answer = await call('POST', `${rules}/${rule.id}/execute`, {
        body: `{"data":{"id":${id},"all":[${id}]}}`,
      })
      t.match(answer, { status: 200, body: { success: true, ...warned('data.id', 'data.all[0]') } }, id)
      const [sent, whole] = calls
      t.equal(sent?.url, `/${id}`)
      t.strictSame(JSON.parse(sent?.body ?? ''), { id, text: `id ${id}` })
      t.match(JSON.parse(whole?.body ?? ''), { data: { id, all: [id] } })
      t.equal(
        (await database.task.findFirstOrThrow({ where: { ruleId: rule.id } })).title,
        `Call ${id} ["${id}"]`,
      )
      const emitted = await database.event.findFirstOrThrow({
        where: { type: 'DEAL_WON' },
        orderBy: { id: 'desc' },
      })
      t.strictSame(emitted.data, { id })
      const event = await database.event.findFirstOrThrow({ where: { addresseeId: rule.id } })
      t.strictSame((await call<{ data: unknown }>('GET', `/api/events/${event.id}`)).body.data, {
        id,
        all: [id],
      })
      await call('DELETE', `${rules}/${rule.id}`)
    }
  },
)

t.test('every response about an event names the numbers that became texts', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body: rule } = await call<Rule>('POST', rules, {
    body: { name: 'A', trigger: 'LEAD_CREATED', actions: [task] },
  })
  const data = `{"data":{"items":[{"sku":1},{"sku":${long[0]}}]}`
  const field = 'data.items[1].sku'
  for (const path of [trigger, `${rules}/${rule.id}/execute`]) {
    t.match((await call('POST', path, { body: `${data}}` })).body, warned(field))
    t.match((await call('POST', path, { body: `${data},"dryRun":true}` })).body, {
      dryRun: true,
      ...warned(field),
    })
    t.match((await call('POST', path, { body: `${data}}`, headers: { prefer: 'respond-async' } })).body, {
      status: 'accepted',
      ...warned(field),
    })
    t.notOk(
      'warnings' in ((await call('POST', path, { body: { data: { id: long[0], n: 0.1 } } })).body as object),
    )
  }
  const batch = await call<{ results: object[] }>('POST', `${trigger}/batch`, {
    body: `{"events":[{"data":{"id":1}},${data}},{"data":{"id":${long[1]}},"idempotencyKey":${long[0]}}]}`,
  })
  t.match(batch.body.results, [
    { status: 'accepted' },
    { status: 'accepted', ...warned(`events[1].${field}`) },
    { status: 'refused', errors: [{ field: 'events[2].idempotencyKey', message: fault }] },
  ])
  t.notOk('warnings' in (batch.body.results[0] ?? {}))
  const many = await call<{ warnings: unknown[] }>('POST', trigger, {
    body: `{"data":{"ids":[${Array(50).fill(long[0])}]}}`,
  })
  t.equal(many.body.warnings.length, 21)
  t.match(many.body.warnings[20], { message: 'Only the first 20 warnings are listed' })
})

t.test('a preview of a mail prints the digits, and warns', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body: template } = await call<{ id: string }>('POST', '/api/email-templates', {
    body: { name: 'a', text: 'Order {{id}}' },
  })
  const answer = await call('POST', `/api/email-templates/${template.id}/preview`, {
    body: `{"data":{"id":${long[0]}}}`,
  })
  t.match(answer.body, { text: `Order ${long[0]}`, warnings: [`data.id: ${message}`] })
})

t.test('a signed webhook becomes an event with the digits that were signed', async (t) => {
  const workspace = await api.makeWorkspace()
  const { deliver } = await makeSender(api, workspace)
  const { url, calls } = await listen()
  await workspace.call('POST', rules, {
    body: {
      name: 'Forward',
      trigger: 'WEBHOOK_RECEIVED',
      actions: [{ type: 'SEND_WEBHOOK', config: { url, body: '{{payload}}' } }],
    },
  })
  const body = `{"type":"lead.created","data":{"id":${long[0]},"amount":${long[1]},"n":0.10}}`
  const id = newId()
  const { warnings } = warned('data.id', 'data.amount')
  t.match(await deliver({ id, body }), { status: 202, body: { deduplicated: false, warnings } })
  t.match(await deliver({ id, body }), { status: 200, body: { deduplicated: true, warnings } })
  t.equal((await deliver({ id, body: body.replace('542', '543') })).status, 422)
  const data = { id: long[0], amount: long[1], n: 0.1 }
  const events = await workspace.database.event.findMany({ orderBy: { type: 'asc' } })
  t.match(events, [
    { type: 'LEAD_CREATED', data },
    { type: 'WEBHOOK_RECEIVED', data: { payload: { data }, warnings } },
  ])
  while (calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  t.strictSame(JSON.parse(calls[0]?.body ?? ''), { type: 'lead.created', data })
})

t.test(
  'ids that differ only in digits that a double loses are different requests under one key',
  async (t) => {
    const { call, database } = await api.makeWorkspace()
    const post = (key: string, id: string) =>
      call('POST', trigger, {
        body: `{"data":{"id":${id}}}`,
        headers: { 'idempotency-key': key, prefer: 'respond-async' },
      })
    const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'
    for (const [key, one, other] of [
      ['a', '12345678901234567891', '12345678901234567892'],
      ['b', '8202522731445525542', '8202522731445525543'],
      ['c', '0.12345678901234567', '0.12345678901234568'],
    ] as const) {
      const first = await post(key, one)
      t.match(first.body, warned('data.id'))
      const again = await post(key, one)
      t.ok(isReplay(again))
      t.strictSame(again.body, first.body)
      t.match(await post(key, other), {
        status: 422,
        body: {
          errors: [{ field: 'Idempotency-Key', message: 'Was already used with a different request' }],
        },
      })
    }
    const batch = (id: string) =>
      call<{ results: object[] }>('POST', `${trigger}/batch`, {
        body: `{"events":[{"data":{"id":${id}},"idempotencyKey":"d"}]}`,
      })
    t.match((await batch('8202522731445525542')).body.results, [{ status: 'accepted' }])
    t.match((await batch('8202522731445525542')).body.results, [{ status: 'accepted', replayed: true }])
    t.match((await batch('8202522731445525543')).body.results, [{ status: 'refused' }])
    t.equal(await database.event.count(), 4)
  },
)

t.test('a constant of a rule with more digits than a double keeps is refused at its path', async (t) => {
  const { call } = await api.makeWorkspace()
  const rule = (conditions: string, actions = JSON.stringify([task])) =>
    `{"name":"A","trigger":"LEAD_CREATED","conditions":${conditions},"actions":${actions}}`
  const clause = (operator: string, value: string) =>
    `{"field":"id","operator":"${operator}","value":${value}}`
  const call1 = `[{"type":"SEND_WEBHOOK","config":{"url":"https://example.org","body":{"a":[1,${long[0]}]}}}]`
  const emit = `[{"type":"EMIT_EVENT","config":{"eventType":"DEAL_WON","data":{"id":${long[1]}}}}]`
  for (const [body, field] of [
    [rule(`[${clause('equals', long[0] ?? '')}]`), 'conditions[0].value'],
    [rule(`[{"not":${clause('in', `[1,${long[1]}]`)}}]`), 'conditions[0].not.value[1]'],
    [rule(`[${clause('greater_than', '9007199254740993')}]`), 'conditions[0].value'],
    [rule(`[${clause('between', `[0,${long[2]}]`)}]`), 'conditions[0].value[1]'],
    [rule('[]', call1), 'actions[0].config.body.a[1]'],
    [rule('[]', emit), 'actions[0].config.data.id'],
  ] as const) {
    const answer = { status: 422, body: { errors: [{ field, message: fault }] } }
    for (const path of [rules, `${rules}/validate`]) {
      const { status, body: told } = await call('POST', path, { body })
      t.strictSame({ status, body: told }, answer, body)
    }
    t.match(await call('POST', `${rules}/check`, { body: `{"rules":[${body}]}` }), {
      status: 422,
      body: { errors: [{ field: `rules[0].${field}` }] },
    })
  }
  const { body: made } = await call<Rule>('POST', rules, { body: rule('[]') })
  const changed = `{"conditions":[${clause('equals', long[0] ?? '')}]}`
  t.match(await call('PUT', `${rules}/${made.id}`, { body: changed }), { status: 422 })
  for (const kept of ['9007199254740991', '9007199254740992', '1e23', '0.1', '1e-7', '123456789012345.67'])
    t.equal((await call('POST', rules, { body: rule(`[${clause('equals', kept)}]`) })).status, 201, kept)
})

t.test('a number beyond all doubles stays a 422', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const number of ['1e400', '9'.repeat(400)])
    t.match(await call('POST', trigger, { body: `{"data":{"a":${number}}}` }), {
      status: 422,
      body: { errors: [{ field: 'data.a', message: 'Is larger than the largest number' }] },
    })
})
