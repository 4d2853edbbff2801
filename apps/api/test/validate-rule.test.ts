import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

interface Validated {
  rule: Record<string, unknown>
  warnings: { field: string; message: string }[]
}

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const path = `${rules}/validate`
const validate = (fields: Record<string, unknown>) =>
  workspace.callAs('viewer')<Validated>('POST', path, { body: ruleBody(fields) })

t.test('a valid rule is returned as it would be saved, and is not saved', async (t) => {
  const conditions = [{ field: 'score', operator: 'gt', value: 80 }]
  const { status, body } = await validate({ conditions })
  t.equal(status, 200)
  t.strictSame(body, {
    rule: {
      name: 'A rule',
      description: '',
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
      actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
      isActive: true,
    },
    warnings: [],
  })
  t.equal(await workspace.database.rule.count(), 0)
  t.equal(await workspace.database.auditEntry.count(), 0)
})

t.test('a faulty rule gets the refusal of its creation', async (t) => {
  const bodies: unknown[] = [
    '{"name": ',
    '[]',
    {},
    ruleBody({ trigger: 'NOPE' }),
    ruleBody({ trigger: 'NOPE', name: '' }),
    ruleBody({ conditions: [{ field: 'a b.', operator: 'bigger', value: 1 }], id: 1 }),
    ruleBody({ actions: [{ type: 'CREATE_TASK', config: { title: '{{name | shout}}', dueIn: '2 hours' } }] }),
  ]
  for (const body of bodies) {
    const created = await workspace.call('POST', rules, { body })
    const validated = await workspace.call('POST', path, { body })
    t.ok(created.status >= 400)
    t.strictSame([validated.status, validated.body], [created.status, created.body], JSON.stringify(body))
  }
})

t.test('warnings name what is probably a mistake', async (t) => {
  await workspace.call('POST', '/api/email-templates', { body: { name: 'welcome', text: 'Hi' } })
  const email = (template: string) => ({
    type: 'SEND_EMAIL',
    config: { to: '{{email}}', subject: 'Hi', template },
  })
  const { body } = await validate({
    conditions: [
      { field: 'scroe', operator: 'gt', value: 80 },
      { any: [{ field: 'data.score', operator: 'exists' }] },
      { field: 'custom', operator: 'exists' },
    ],
    actions: [
      { type: 'CREATE_TASK', config: { title: 'Call {{Name}} of ${company}' } },
      email('welcome'),
      email('wellcome'),
    ],
  })
  matchLists(t, body.warnings, [
    { field: 'conditions[0].field', message: 'Did you mean score instead of scroe?' },
    {
      field: 'conditions[1].any[0].field',
      message: 'A path starts in the data of the event. Did you mean score instead of data.score?',
    },
    { field: 'actions[0].config.title', message: 'Did you mean name instead of Name?' },
    {
      field: 'actions[0].config.title',
      message: '${company} is plain text here: a placeholder is {{field}}',
    },
    {
      field: 'actions[2].config.template',
      message: 'No template named "wellcome", so the built-in email is sent',
    },
  ])
})

t.test('warnings name forms that are often meant otherwise', async (t) => {
  const { body } = await validate({
    actions: [
      { type: 'CREATE_TASK', config: { title: '{{name | default:friend}}' } },
      { type: 'SEND_WEBHOOK', config: { url: 'https://crm.example.com/leads/{{id}}' } },
    ],
  })
  matchLists(t, body.warnings, [
    {
      field: 'actions[0].config.title',
      message: 'default:friend reads the field friend: a text needs quotes, default:"friend"',
    },
    {
      field: 'actions[1].config.url',
      message: '{{id}} has no filter urlencode: a value with / ? # & % or + may make the action fail',
    },
  ])
})

t.test('warnings say what the stored events have otherwise, and nothing of forms that fit', async (t) => {
  const own = await api.makeWorkspace()
  const due = '2026-03-10T12:00:00+0000'
  const stored = [
    { items: [{ sku: 'a' }], sentAt: 1_767_225_600, due },
    { items: [], sentAt: 0, due },
  ]
  await own.database.event.createMany({
    data: stored.map((data) => {
      return { id: newId(), workspaceId: own.id, type: 'FORM_SUBMITTED', data, doneAt: new Date() }
    }),
  })
  const warningsOf = async (condition: object, title = 'Call') => {
    const actions = [{ type: 'CREATE_TASK', config: { title } }]
    const { body } = await own.call<Validated>('POST', path, {
      body: ruleBody({ trigger: 'FORM_SUBMITTED', conditions: [condition], actions }),
    })
    return body.warnings
  }
  const list = 'since items is a list: the path needs the index of an item, such as items[0].sku.'
  const inItems = { field: 'items.sku', operator: 'equals', value: 'a' }
  t.strictSame(await warningsOf(inItems), [
    { field: 'conditions[0]', message: `items.sku was in none of 2 FORM_SUBMITTED events, ${list}` },
  ])
  const fine = { field: 'items[0].sku', operator: 'equals', value: 'a' }
  t.match(await warningsOf(fine, '{{items.sku}}'), [{ field: 'actions[0].config.title', message: list }])
  t.match(await warningsOf({ field: 'sentAt', operator: 'before', value: '2026-01-01' }), [
    { message: /read as Unix seconds: 2026-01-01T00:00:00.000Z/ },
  ])
  t.strictSame(await warningsOf({ field: 'due', operator: 'before', value: '2026-01-01' }), [])
  t.match(await warningsOf({ field: 'sentAt', operator: 'gt', value: 1_767_225_600 }), [
    { field: 'conditions[0].value', message: /^1767225600 is compared as a number here/ },
  ])
})

t.test('a path below a list of the example, and a number for a time, are named', async (t) => {
  const conditions = [
    { field: 'tags.name', operator: 'exists' },
    { field: 'tags[0]', operator: 'exists' },
    { field: 'createdAt', operator: 'greater_than', value: 1_767_225_600_000 },
    { field: 'size', operator: 'greater_than', value: 1_767_225_600 },
  ]
  matchLists(t, (await validate({ conditions })).body.warnings, [
    {
      field: 'conditions[0].field',
      message:
        'In the example of LEAD_CREATED tags is a list: the path needs the index of an item, such as tags[0].name',
    },
    { field: 'conditions[2].value', message: /use before or after with "2026-01-01T00:00:00.000Z"/ },
  ])
})

t.test('a number as the time of a rule is refused with the text that it would be', async (t) => {
  const refusal = async (value: unknown) => {
    const { status, body } = await workspace.call<{ errors: { field: string; message: string }[] }>(
      'POST',
      path,
      {
        body: ruleBody({ conditions: [{ field: 'at', operator: 'before', value }] }),
      },
    )
    t.equal(status, 422)
    return JSON.stringify(body)
  }
  t.match(await refusal(1_767_225_600), '2026-01-01T00:00:00.000Z')
  t.match(await refusal(1_767_225_600_000), '2026-01-01T00:00:00.000Z')
  t.match(await refusal('1767225600'), '2026-01-01T00:00:00.000Z')
  t.match(await refusal('2026-01-01T00:00:00+0000'), '2026-01-01T00:00:00.000Z')
  t.match(await refusal('Thu, 01 Jan 2026 00:00:00 GMT'), '2026-01-01T00:00:00.000Z')
  t.match(await refusal(0), 'Must be a string')
})
