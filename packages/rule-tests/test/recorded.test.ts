import type { CheckedRule } from '@automation/engine'
import { measureCoverage, type RuleTest, runTests } from '@automation/rule-tests'
import t from 'tap'

const when = (value: string) => ({ field: 'actions.ticket.outcome', operator: 'equals', value })
const ticket = {
  name: 'Ticket, or a task',
  trigger: 'FORM_SUBMITTED',
  conditions: [{ field: 'subject', operator: 'exists' }],
  actions: [
    {
      name: 'ticket',
      type: 'SEND_WEBHOOK',
      config: { url: 'https://x.io/tickets', capture: { number: 'body.number' } },
      continueOnError: true,
    },
    {
      type: 'SEND_EMAIL',
      config: { to: '{{email}}', subject: 'Ticket {{captured.number}}', template: 'ticket' },
      when: when('success'),
    },
    { type: 'CREATE_TASK', config: { title: 'Status {{actions.ticket.status}}' }, when: when('failed') },
  ],
} as CheckedRule
const event = { type: 'FORM_SUBMITTED', data: { subject: 's', email: 'a@b.c' } } as const

const failuresOf = (...tests: object[]) =>
  runTests([ticket], tests.map((test, n) => ({ name: String(n), event, ...test })) as RuleTest[]).map(
    ({ failures }) => failures,
  )

t.test('a test gives what a call records, and how it ends', async (t) => {
  const call = { type: 'SEND_WEBHOOK' }
  const mail = (subject: string) => ({ type: 'SEND_EMAIL', config: { subject } })
  t.strictSame(
    failuresOf(
      { captured: { number: 'T-1' }, expectOnly: { [ticket.name]: [call, mail('Ticket T-1')] } },
      { expectOnly: { [ticket.name]: [call, mail('Ticket ')] } },
      {
        actions: { ticket: { outcome: 'failed', status: 503 } },
        expectOnly: { [ticket.name]: [{ type: 'CREATE_TASK', config: { title: 'Status 503' } }] },
      },
      { actions: { ticket: { outcome: 'unknown' } }, expectOnly: { [ticket.name]: 1 } },
    ),
    [[], [], [], []],
  )
  t.match(failuresOf({ actions: { ticket: { outcome: 'failed' } }, expect: { [ticket.name]: [call] } }), [
    [/SEND_WEBHOOK failed: Assumed to be failed/],
  ])
})

t.test('coverage sees both outcomes', async (t) => {
  const tests = (outcomes: string[]) =>
    outcomes.map((outcome) => ({
      name: outcome,
      event,
      actions: { ticket: { outcome } },
      expect: {},
    })) as unknown as RuleTest[]
  const pathsOf = (outcomes: string[]) =>
    measureCoverage([ticket], tests(outcomes)).uncovered.map(({ path }) => path)
  t.strictSame(pathsOf(['success']), ['conditions[0]', 'actions[1].when', 'actions[2].when'])
  t.strictSame(pathsOf(['success', 'failed']), ['conditions[0]'])
})
