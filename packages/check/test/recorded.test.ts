import {
  type CheckedRule,
  checkRules,
  measureCoverage,
  type ObservedFields,
  type RuleTest,
  runTests,
} from '@automation/check'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
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

t.test('what depends on a response is not known to the check, and is no finding', async (t) => {
  const twin = { ...ticket, name: 'Twin', conditions: [{ field: 'score', operator: 'exists' }] }
  const observed: ObservedFields = {
    events: 1_000,
    hasMorePaths: false,
    fields: ['subject', 'email', 'score'].map((path) => ({
      path,
      kinds: ['text'],
      kindCounts: { text: 1_000 },
      share: 1,
      distinct: 900,
      isDistinctAtLeast: false,
      top: [],
    })) as never,
  }
  const { findings, notKnown } = checkRules([ticket, twin as CheckedRule], {
    now,
    findObserved: () => observed,
  })
  t.strictSame(
    findings.filter(({ code }) => code !== 'overlap').map(({ code, message }) => [code, message]),
    [],
  )
  t.notOk(
    findings.some(({ path }) => /actions\[[12]\]/.test(path)),
    'what two rules do with two tickets is not the same',
  )
  t.match(
    notKnown.find(({ path }) => path === 'actions[1].when'),
    { code: 'unreachable_action', reason: /on an earlier action/ },
  )
})

t.test('the same paths are fields of the event in a rule that declares nothing', async (t) => {
  const [call, mail] = ticket.actions as [object, object]
  const plain = { ...ticket, actions: [{ ...call, name: undefined, config: { url: 'https://x.io' } }, mail] }
  const never = {
    ...plain,
    conditions: [{ field: 'actions.ticket.outcome', operator: 'equals', value: 'failed' }],
  }
  const { findings } = checkRules([never as unknown as CheckedRule], { now })
  t.match(findings, [{ code: 'unreachable_action', path: 'actions[1].when' }])
})
