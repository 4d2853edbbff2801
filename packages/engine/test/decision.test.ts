import t from 'tap'
import { compileRule } from '../src/compile-rule.js'
import { findRuleFaults } from '../src/faults.js'
import { findNextAction, simulatePlan } from '../src/progress.js'
import type { Action } from '../src/rule.js'
import { planRule } from '../src/run.js'

const now = Date.parse('2026-03-10T12:00:00Z')
const ask = (more: object = {}, config: object = {}) =>
  ({
    type: 'WAIT',
    config: { decision: { options: ['approve', 'reject'], within: '1d', ...more }, ...config },
  }) as Action
const task = (title: string, more: object = {}) =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const faultsOf = (...actions: Action[]) =>
  findRuleFaults({ conditions: [], actions }).map(({ field, message }) => `${field}: ${message}`)

t.test('faults of a decision are found where they stand', async (t) => {
  t.strictSame(faultsOf(ask()), [])
  t.match(faultsOf(ask({ options: ['approve', 'expired'] })), [
    /^actions\[0\]\.config\.decision\.options: Must not have expired/,
  ])
  t.match(faultsOf(ask({ within: 'soon' })), [/^actions\[0\]\.config\.decision\.within: /])
  t.match(faultsOf(ask({ within: '367d' })), [/^actions\[0\]\.config\.decision\.within: /])
  for (const other of [{ duration: '1d' }, { until: '2027-01-01' }, { time: {} }, { for: {} }])
    t.match(faultsOf(ask({}, other)), [/^actions\[0\]\.config\.\w+: Must not stand beside decision/])
  t.strictSame(faultsOf(ask(), task('x'), ask()), [
    'actions[2].config.decision: Must be the only one of the rule: actions[0] has a decision',
  ])
})

t.test('decision is a word of a rule that asks, after its WAIT, and data elsewhere', async (t) => {
  t.strictSame(faultsOf(ask(), task('{{decision.choice}} {{decision.reason}}')), [])
  t.match(faultsOf(task('{{decision.choice}}'), ask()), [
    /actions\[1\] waits for the decision, and is not earlier$/,
  ])
  for (const path of ['decision', 'decision.by', 'decision.links.approve', 'decision.choice.x'])
    t.match(faultsOf(ask(), task(`{{${path}}}`)), [/Must read decision\.choice or decision\.reason$/], path)
  t.strictSame(faultsOf(task('{{decision.links.approve}}')), [], 'without a WAIT for it, it is data')
})

t.test('a dry run plans what follows as if nobody decided', async (t) => {
  const when = { field: 'decision.choice', operator: 'equals', value: 'approve' }
  const actions = [ask(), task('{{decision.choice}}{{decision.reason}}'), task('x', { when } as object)]
  const plan = planRule(compileRule({ conditions: [], actions }), {}, now)
  t.match(simulatePlan(plan).results, [
    { status: 'simulated', config: { decision: { options: ['approve', 'reject'], within: '1d' } } },
    { status: 'simulated', config: { title: 'expired' } },
    { status: 'skipped' },
  ])
  t.equal(plan.actions[1]?.at, now + 86_400_000)
  t.strictSame(
    plan.actions.map(({ of }) => of.followsEvent),
    [false, true, true],
  )
})

t.test('later actions read what was decided, and why', async (t) => {
  const rule = compileRule({
    conditions: [],
    actions: [ask(), task('{{decision.choice}}: {{decision.reason}}')],
  })
  const decision = { choice: 'approve', reason: 'It is fair', by: 'user:ada' }
  t.match(findNextAction(rule, {}, now, [{ action: 'WAIT', status: 'success', ended: 'event', decision }]), {
    config: { title: 'approve: It is fair' },
  })
  const silent = { action: 'WAIT', status: 'success', decision: { choice: 'reject' } } as const
  t.match(findNextAction(rule, {}, now, [silent]), { config: { title: 'reject: ' }, warnings: [] })
})

t.test('a decision hides nothing of the event that ended a WAIT before it', async (t) => {
  const wait = { duration: '1d', for: { eventType: 'DEAL_WON', match: { a: 1 }, then: 'go_on' } }
  const actions = [{ type: 'WAIT', config: wait } as Action, ask(), task('{{waited.b}} {{decision.choice}}')]
  const ended = { action: 'WAIT', status: 'success', ended: 'event' } as const
  const results = [
    { ...ended, waited: { b: 2 } },
    { ...ended, decision: { choice: 'approve' } },
  ]
  t.match(findNextAction(compileRule({ conditions: [], actions }), {}, now, results), {
    config: { title: '2 approve' },
  })
})
