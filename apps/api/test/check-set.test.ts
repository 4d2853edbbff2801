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
    notKnown: [],
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
  t.match((await workspace.call('GET', rules)).body, { rules: [] })
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
