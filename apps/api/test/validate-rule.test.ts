import { matchLists } from '@automation/assertions'
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
    { field: 'conditions[0].field', message: 'scroe is perhaps score' },
    {
      field: 'conditions[1].any[0].field',
      message: 'data.score begins in the data of the event: is score meant?',
    },
    { field: 'actions[0].config.title', message: 'Name is perhaps name' },
    {
      field: 'actions[0].config.title',
      message: '${company} is plain text here: a placeholder is {{field}}',
    },
    {
      field: 'actions[2].config.template',
      message: 'No template named "wellcome": the built-in mail is sent',
    },
  ])
})

t.test('warnings name forms that are often meant otherwise', async (t) => {
  const url = 'https://crm.example.com/leads/{{id}}'
  const { body } = await validate({
    actions: [
      { type: 'CREATE_TASK', config: { title: '{{name | default:friend}} {{else}}' } },
      { type: 'SEND_WEBHOOK', config: { url, body: { deep: ['{{name | default:you}}'] } } },
    ],
  })
  matchLists(t, body.warnings, [
    {
      field: 'actions[0].config.title',
      message: 'default:friend reads the field friend: a text needs quotes, default:"friend"',
    },
    {
      field: 'actions[0].config.title',
      message: '{{else}} reads a field of the event with this name: there are no blocks',
    },
    {
      field: 'actions[1].config.url',
      message: '{{id}} has no filter urlencode: a value with / ? # or & makes the action fail',
    },
    {
      field: 'actions[1].config.body.deep[0]',
      message: 'default:you reads the field you: a text needs quotes, default:"you"',
    },
  ])
})
