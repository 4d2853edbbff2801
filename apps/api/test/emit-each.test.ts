import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { rules, startApi, task } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
await startWorker(t, api.config, t.testdir({ mail: {} }))

const split = (config: object) => ({
  name: 'Split',
  trigger: 'FORM_SUBMITTED',
  actions: [{ type: 'EMIT_EVENT', config: { eventType: 'TASK_OVERDUE', ...config } }],
})
const data = { title: '{{item.title}}', n: '{{item.n}}', form: '{{form}}' }

type Results = { emitted?: object; output?: object; status: string; error?: string; warnings?: string[] }[]

t.test(
  'an execution says how many of the events of its list are done and how many have failed',
  async (t) => {
    const { call, database } = await api.makeWorkspace()
    await call('POST', rules, { body: split({ forEach: 'tasks', data }) })
    const follower = {
      name: 'Each',
      trigger: 'TASK_OVERDUE',
      conditions: [{ field: 'n', operator: 'gte', value: 1 }],
      actions: [{ type: 'CREATE_TASK', config: { title: '{{title}}' } }],
    }
    await call('POST', rules, { body: follower })
    // The first matches no rule, and the second has no title.
    const tasks = [
      { n: 0 },
      { n: 1 },
      ...Array.from({ length: 38 }, (_, n) => ({ n: n + 2, title: `Task ${n}` })),
    ]
    const { body } = await call<{ results: { executionId: string }[] }>(
      'POST',
      `${rules}/trigger/FORM_SUBMITTED`,
      {
        body: { data: { form: 'list', tasks } },
      },
    )
    const path = `/api/executions/${body.results[0]?.executionId}`
    for (;;) {
      const { body } = await call<{ results: Results }>('GET', path)
      const [result] = body.results
      t.match(result, { status: 'success', output: { events: 40 }, emitted: { events: 40 } })
      if (JSON.stringify(result?.emitted) === JSON.stringify({ events: 40, done: 39, failed: 1 })) break
      await delay(50)
    }
    t.equal(await database.task.count(), 38)
    const emitted = await database.event.findMany({ where: { type: 'TASK_OVERDUE' }, orderBy: { id: 'asc' } })
    t.strictSame(
      emitted.map((event) => (event.data as { n: number }).n),
      tasks.map(({ n }) => n),
    )
    const { body: ledger } = await call('GET', '/api/developer/v1/ledger')
    t.match(ledger, { effects: { emittedEvents: 40 }, faults: { length: 0 } })

    const other = await api.makeWorkspace()
    t.equal((await other.call('GET', path)).status, 404)
  },
)

t.test('what is no list, and what is too much, is said in the result', async (t) => {
  const { call, database } = await api.makeWorkspace()
  await call('POST', rules, { body: split({ forEach: 'tasks', data }) })
  const run = async (tasks: unknown) => {
    const sent = { body: { data: { form: 'list', tasks } } }
    const { body } = await call<{ results: { executionId: string }[] }>(
      'POST',
      `${rules}/trigger/FORM_SUBMITTED`,
      sent,
    )
    const path = `/api/executions/${body.results[0]?.executionId}`
    return (await call<{ results: Results }>('GET', path)).body.results[0]
  }
  t.strictSame(await run('one, two'), {
    action: 'EMIT_EVENT',
    status: 'success',
    output: { events: 0 },
    warnings: ['tasks is "one, two": forEach reads lists'],
  })
  t.match(await run(Array(501).fill({})), {
    status: 'failed',
    error: 'config.forEach: tasks has 501 items, and an action emits at most 500 events',
  })
  t.match(await run(Array(500).fill({ n: 1, title: 'x' })), { status: 'success', emitted: { events: 500 } })
  const done = () => database.event.count({ where: { type: 'TASK_OVERDUE', doneAt: { not: null } } })
  while ((await done()) < 500) await delay(50)
  t.equal(await database.event.count({ where: { type: 'TASK_OVERDUE' } }), 500)
})

t.test('a dry run shows each event, and a faulty forEach is refused with its place', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body: rule } = await call<{ id: string }>('POST', rules, {
    body: split({ forEach: 'tasks', data }),
  })
  const { body } = await call('POST', `${rules}/${rule.id}/execute`, {
    body: { data: { form: 'list', tasks: [{ n: 1 }, { n: 2 }] }, dryRun: true },
  })
  t.match(body, {
    results: [
      {
        status: 'simulated',
        config: { forEach: 'tasks', events: [{ index: 0, data: { n: 1, form: 'list' } }, { index: 1 }] },
        warnings: ['item.title is missing'],
      },
    ],
  })
  const cases: [config: object, field: string, message: string][] = [
    [{ forEach: '{{tasks}}', data }, 'forEach', 'Must be the path of a list, such as items, without {{ }}'],
    [{ forEach: 'a..b', data }, 'forEach', 'Must be the path of a list, such as items or order.lines'],
    [{ forEach: 'tasks' }, 'data', 'Is required with forEach: {{item}} is the item there'],
    [{ forEach: ['tasks'], data }, 'forEach', 'Must be a string'],
    [{ where: [{ field: 'n', operator: 'exists' }], data }, 'where', 'Must stand beside forEach'],
    [{ forEach: 'tasks', where: [], data }, 'where', 'Must have at least 1 item'],
    [
      { forEach: 'tasks', where: [{ field: 'n..m', operator: 'exists' }], data },
      'where[0].field',
      'Must be a field path',
    ],
    [{ forEach: 'tasks', where: [{ field: 'n', operator: 'exits' }], data }, 'where[0].operator', 'exists'],
    [{ forEach: 'tasks', data: ['{{item}}'] }, 'data', 'Must be an object or a string'],
  ]
  for (const [config, field, message] of cases) {
    const { status, body } = await call<{ errors: object[] }>('POST', rules, { body: split(config) })
    t.equal(status, 422)
    t.match(body.errors, [{ field: `actions[0].config.${field}`, message }])
  }
  const where = [{ field: 'n', operator: 'gt', value: 1 }]
  const saved = await call<{ actions: { config: object }[] }>('POST', rules, {
    body: split({ forEach: 'tasks', where, data }),
  })
  t.equal(saved.status, 201)
  t.match(
    saved.body.actions,
    [{ config: { where: [{ field: 'n', operator: 'greater_than', value: 1 }] } }],
    'as conditions are written',
  )
})

t.test('lists of addresses and lists in texts are refused with the place of their fault', async (t) => {
  const { call } = await api.makeWorkspace()
  const mail = { subject: 'x', template: 'x' }
  const cases: [type: string, config: object, field: string, message: RegExp | string][] = [
    [
      'SEND_EMAIL',
      { ...mail, to: ['a@b.io', 'Ada <c@d.io>'] },
      'to[1]',
      'Must be one email address, without a name',
    ],
    ['SEND_EMAIL', { ...mail, to: ['a@b.io, c@d.io'] }, 'to[0]', 'Must be one email address, without a name'],
    ['SEND_EMAIL', { ...mail, to: [] }, 'to', 'Must have at least 1 item'],
    ['SEND_EMAIL', { ...mail, to: Array(51).fill('{{a}}') }, 'to', 'Must have at most 50 items'],
    ['SEND_EMAIL', { ...mail, to: 'a@b.io', cc: [''] }, 'cc[0]', 'Must have at least 1 character'],
    ['SEND_EMAIL', { ...mail, to: 'a@b.io', cc: [7] }, 'cc[0]', 'Must be a string'],
    ['SEND_EMAIL', { ...mail, to: 'a@b.io', replyTo: ['a@b.io'] }, 'replyTo', 'Must be a string'],
    [
      'CREATE_TASK',
      { title: '{{#each a}}x{{/each}}' },
      'title',
      /^Has a block {{#each a}}, which only email templates/,
    ],
    [
      'CREATE_TASK',
      { title: '{{a | divided_by:0}}' },
      'title',
      'Has a filter divided_by that cannot divide by 0',
    ],
    [
      'SEND_NOTIFICATION',
      { url: 'https://x.io', text: '{{#each a}}x' },
      'text',
      'Has {{#each a}} without its {{/each}}',
    ],
  ]
  for (const [type, config, field, message] of cases) {
    const body = { name: 'x', trigger: 'LEAD_CREATED', actions: [task, { type, config }] }
    const { status, body: answer } = await call<{ errors: object[] }>('POST', rules, { body })
    t.equal(status, 422, JSON.stringify(config))
    t.match(answer.errors, [{ field: `actions[1].config.${field}`, message }])
  }
  const template = {
    name: 'order',
    text: 'Order\n{{#each lines}}{{item.sku}} {{item.qty | times:2}}\n{{/each}}',
  }
  const { body: saved } = await call<{ id: string }>('POST', '/api/email-templates', { body: template })
  const { body: preview } = await call('POST', `/api/email-templates/${saved.id}/preview`, {
    body: { data: { lines: [{ sku: 'A', qty: 2 }, { sku: 'B' }] } },
  })
  t.match(preview, { text: 'Order\nA 4\nB \n', warnings: ['item.qty is missing'] })
  const { body: nested } = await call('POST', '/api/email-templates', {
    body: { name: 'x', html: '{{#each a}}{{#each b}}{{/each}}{{/each}}' },
  })
  t.match(nested, { errors: [{ field: 'html', message: /a list within a list cannot be printed/ }] })
})
