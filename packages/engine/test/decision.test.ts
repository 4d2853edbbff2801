import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { type CompiledRule, compileRule } from '../src/planning/compile-rule.js'
import { listChoices, planBranch } from '../src/planning/plan-branches.js'
import { findNextAction, simulatePlan } from '../src/planning/progress.js'
import { planActions, planRule } from '../src/planning/run.js'
import { readDecision } from '../src/results/decision.js'
import type { Action } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'

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
  for (const path of ['decision', 'decision.by', 'decision.choice.x'])
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
})

t.test('later actions read what was decided, and why', async (t) => {
  const rule = compileRule({
    conditions: [],
    actions: [ask(), task('{{decision.choice}}: {{decision.reason}}')],
  })
  const decision = { choice: 'approve', reason: 'It is fair', by: 'user:ada' }
  t.match(
    findNextAction(rule, {}, now, [{ action: 'WAIT', status: 'success', ended: 'decision', decision }]),
    {
      config: { title: 'approve: It is fair' },
    },
  )
  const silent = { action: 'WAIT', status: 'success', decision: { choice: 'reject' } } as const
  t.match(findNextAction(rule, {}, now, [silent]), { config: { title: 'reject: ' }, warnings: { length: 0 } })
})

t.test('a decision hides nothing of the event that ended a WAIT before it', async (t) => {
  const wait = { duration: '1d', for: { eventType: 'DEAL_WON', match: { a: 1 }, then: 'go_on' } }
  const actions = [{ type: 'WAIT', config: wait } as Action, ask(), task('{{waited.b}} {{decision.choice}}')]
  const done = { action: 'WAIT', status: 'success' } as const
  const results = [
    { ...done, ended: 'event', waited: { b: 2 } } as const,
    { ...done, ended: 'decision', decision: { choice: 'approve' } } as const,
  ]
  t.match(findNextAction(compileRule({ conditions: [], actions }), {}, now, results), {
    config: { title: '2 approve' },
  })
})

t.test('links stand in what a call sends before the decision, and nowhere else', async (t) => {
  const link = '{{decision.links.approve}}'
  const chat = (text: string) => ({
    type: 'SEND_NOTIFICATION',
    config: { url: 'https://chat.example.com', text },
  })
  const hook = (config: object) => ({
    type: 'SEND_WEBHOOK',
    config: { url: 'https://api.example.com', ...config },
  })
  const mail = (config: object) => ({
    type: 'SEND_EMAIL',
    config: { to: 'a@example.com', subject: 'x', template: 'x', ...config },
  })
  const faults = (...actions: object[]) => faultsOf(...(actions as Action[]))
  for (const action of [chat(link), hook({ body: { a: [link] } }), mail({ variables: { link } })])
    t.strictSame(faults(action, ask()), [])
  for (const action of [
    task(link),
    hook({ headers: { a: link } }),
    mail({ subject: link }),
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { link } } },
    { ...chat('x'), when: { field: 'decision.links.approve', operator: 'exists' } },
  ])
    t.match(faults(action, ask()), [/Must not read decision\.links: links stand in/])
  for (const filtered of [
    '{{decision.links.approve | upper}}',
    '{{ name | default: decision.links.approve | truncate: 90 }}',
    '{{#each names}}{{decision.links.approve | json}}{{/each}}',
  ])
    t.match(faults(chat(filtered), ask()), [
      /Has a filter beside \{\{decision\.links\.approve\}\}: a link has none$/,
    ])
  t.match(faults(ask(), chat(link)), [/Must read links before the decision: actions\[0\] waits for it$/])
  for (const path of ['decision.links', 'decision.links.perhaps', 'decision.links.approve.x'])
    t.match(faults(chat(`{{${path}}}`), ask()), [
      /Must be the link of an option: decision\.links\.approve or decision\.links\.reject$/,
    ])
})

t.test(
  'a link is filled in where it is sent; what is shown has its name, and data is never a link',
  async (t) => {
    const actions = [
      {
        type: 'SEND_WEBHOOK',
        config: {
          url: 'https://api.example.com',
          body: { yes: '{{decision.links.approve}}', no: 'No: {{decision.links.reject}}', name: '{{name}}' },
        },
      } as Action,
      ask(),
    ]
    const name = '{{decision.links.approve}}'
    const [planned] = planRule(compileRule({ conditions: [], actions }), { name }, now).actions
    const shown = { yes: name, no: 'No: {{decision.links.reject}}', name }
    t.match(planned, {
      config: { body: shown },
      warnings: { length: 0 },
      of: { links: { needsRole: false } },
    })
    const { fillCredentials: fill } = planned as Extract<typeof planned, { type: 'SEND_WEBHOOK' }>
    t.match(fill?.(new Map(), { approve: 'https://y', reject: 'https://n' }), {
      config: { body: { yes: 'https://y', no: 'No: https://n', name } },
    })
  },
)

t.test('a reason is kept by characters, as the schema of a decision counts them', async (t) => {
  for (const reason of ['😀'.repeat(1_000), `x${'😀'.repeat(999)}`])
    t.equal(readDecision({ choice: 'approve', reason }).reason, reason)
  t.equal(readDecision({ choice: 'approve', reason: '😀'.repeat(1_001) }).reason, '😀'.repeat(1_000))
})

function planAll(rule: CompiledRule, data: object, given = {}) {
  const { actions } = planActions(rule, data, now, new Evaluation(now), [], given)
  return listChoices(rule, actions, given).map((choice) => planBranch(rule, choice, { data, now, given }))
}

t.test('what would follow each choice is planned by itself, also of nobody deciding', async (t) => {
  const on = (value: string) => ({ when: { field: 'decision.choice', operator: 'equals', value } })
  const actions = [
    task('first'),
    ask(),
    task('{{decision.choice}} {{name}}: {{decision.reason}}', on('approve')),
    { type: 'WAIT', config: { until: '{{end}}' } } as Action,
    task('no', on('reject')),
  ]
  const rule = compileRule({ conditions: [], actions })
  const branches = planAll(rule, { name: 'Ada', end: '2026-03-12' })
  const tell = branches.map(({ choice, actions }) => [
    choice,
    ...simulatePlan({ conditionsPassed: true, actions }).results.map(
      ({ status, config }) => (config as { title?: string } | undefined)?.title ?? status,
    ),
  ])
  t.strictSame(tell, [
    ['approve', 'approve Ada: {{decision.reason}}', 'simulated', 'skipped'],
    ['reject', 'skipped', 'simulated', 'no'],
    ['expired', 'skipped', 'simulated', 'skipped'],
  ])
  t.equal(branches[0]?.actions[0]?.at, now, 'somebody decides at once')
  t.equal(branches[2]?.actions[0]?.at, now + 86_400_000)
  const listOf = (...actions: Action[]) => planAll(compileRule({ conditions: [], actions }), {})
  t.strictSame(listOf(task('x')), [], 'nobody is asked')
  t.strictSame(listOf(task('x'), ask()), [], 'nothing follows')
  const never = { when: { field: 'a', operator: 'exists' } }
  t.strictSame(listOf({ ...ask(), ...never } as Action, task('x')), [], 'its own when does not hold')
  const call = { type: 'SEND_WEBHOOK', name: 'call', config: { url: 'https://a.example/x' } } as Action
  const calling = compileRule({ conditions: [], actions: [call, ask(), task('x')] })
  t.equal(planAll(calling, {}).length, 3)
  t.strictSame(
    planAll(calling, {}, { actions: { call: { outcome: 'failed' } } }),
    [],
    'an action before it has failed, and ended the execution',
  )
})
