import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })

const check = `${rules}/check`
const contradiction = [
  { field: 'score', operator: 'gt', value: 80 },
  { field: 'score', operator: 'lt', value: 50 },
]

t.test('the rules of a workspace are checked, with their ids', async (t) => {
  const { call } = await api.makeWorkspace()
  const created = await call<{ id: string }>('POST', rules, {
    body: ruleBody({ name: 'Never', conditions: contradiction }),
  })
  const { status, body } = await call('POST', check)
  t.equal(status, 200)
  t.match(body, {
    findings: [
      {
        code: 'never_matches',
        severity: 'error',
        rule: { index: 0, id: created.body.id, name: 'Never' },
        witness: null,
      },
    ],
    notKnown: { length: 0 },
  })
})

t.test('posted rules are checked and not stored, and a viewer may do it', async (t) => {
  const workspace = await api.makeWorkspace()
  const body = {
    rules: [ruleBody({ name: 'One', conditions: [] }), ruleBody({ name: 'Two', conditions: [] })],
  }
  const { status, body: answer } = await workspace.call<{ findings: object[] }>('POST', check, { body })
  t.equal(status, 200)
  t.match(answer.findings, [
    {
      code: 'duplicate',
      rule: { index: 1, id: null },
      others: [{ index: 0, name: 'One' }],
      witness: { type: 'LEAD_CREATED' },
    },
  ])
  t.match((await workspace.call('GET', rules)).body, { rules: { length: 0 } })
})

t.test('a faulty rule is refused with every fault at its path', async (t) => {
  const { call } = await api.makeWorkspace()
  const bad = (change: Record<string, unknown>) =>
    call('POST', check, { body: { rules: [ruleBody(), ruleBody(change)] } })
  t.match(await bad({ conditions: [{ field: 'a', operator: 'matches', value: '(' }] }), {
    status: 422,
    body: { errors: [{ field: 'rules[1].conditions[0].value' }] },
  })
  t.match(await bad({ conditions: [{ field: 'a', operator: 'nope' }] }), {
    status: 422,
    body: { errors: [{ field: 'rules[1].conditions[0].operator' }] },
  })
  t.match(await bad({ trigger: 'NOPE' }), {
    status: 422,
    body: { errors: [{ field: 'rules[1].trigger', message: 'Invalid trigger type' }] },
  })
  t.match(await call('POST', check, { body: { rule: [] } }), { status: 422 })
})

t.test('the rules are compared with the newest stored events of their trigger', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const store = (type: string, list: object[]) =>
    workspace.database.event.createMany({
      data: list.map((data) => ({ id: newId(), workspaceId: workspace.id, type, data, doneAt: new Date() })),
    })
  await store('LEAD_CREATED', [{ scor: 1 }])
  await store(
    'LEAD_CREATED',
    Array.from({ length: 1_000 }, (_, n) => ({
      score: n < 400 ? 'n/a' : n,
      status: n < 910 ? 'new' : 'won',
      ...(n < 998 && { email: `${n}@example.com` }),
    })),
  )
  await store('DEAL_WON', [{ id: 1 }])
  const action = { type: 'CREATE_TASK', config: { title: 'Mail {{emial}}' } }
  const conditions = [
    { field: 'scor', operator: 'exists' },
    { field: 'score', operator: 'gt', value: 80 },
    { field: 'status', operator: 'equals', value: 'New' },
  ]
  const named = { conditions, actions: [action] }
  const wanted = [
    [
      'unknown_field',
      'conditions[0]',
      'scor was in none of 1,000 LEAD_CREATED events. Did you mean score (in 100 %)?',
    ],
    [
      'unseen_value',
      'conditions[2]',
      'status was never "New" in 1,000 LEAD_CREATED events; seen: "new" 91 %, "won" 9 %. Did you mean "new"?',
    ],
    [
      'unseen_placeholder',
      'actions[0].config.title',
      '{{emial}} was in none of 1,000 LEAD_CREATED events. Did you mean email (in 99.8 %)?',
    ],
    [
      'mixed_kinds',
      'conditions[1]',
      'score is text in 400 of 1,000 events. It counts as missing for greater_than, because "n/a" is not a number.',
    ],
  ]
  type Answer = { findings: { code: string; path: string; message: string }[] }
  const read = ({ body }: { body: Answer }) =>
    body.findings.map(({ code, path, message }) => [code, path, message])
  const few = ruleBody({ trigger: 'DEAL_WON', ...named })
  t.strictSame(read(await call<Answer>('POST', check, { body: { rules: [ruleBody(named), few] } })), wanted)
  await call('POST', rules, { body: ruleBody(named) })
  t.strictSame(read(await call<Answer>('POST', check)), wanted, 'the rules of the workspace, too')
  const stranger = await api.makeWorkspace()
  const alone = await stranger.call<Answer>('POST', check, { body: { rules: [ruleBody(named)] } })
  t.same(read(alone), [], 'events of other workspaces are not looked at')
})
