import t, { type Test } from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { type Effect, findNextAction, simulatePlan } from '../src/planning/progress.js'
import { explainRule, planActions, planRule, type ReadyAction, scopeOf } from '../src/planning/run.js'
import type { ActionResult } from '../src/results/outcome.js'
import type { Action } from '../src/rule.js'
import { findRuleWarnings } from '../src/warnings/rule-warnings.js'
import { Evaluation } from '../src/work/evaluation.js'
import { drive } from './fixtures/drive.js'

const start = Date.parse('2026-03-10T12:00:00Z')
const call = (more: object = {}, capture?: object) =>
  ({ type: 'SEND_WEBHOOK', config: { url: 'https://x.io', ...(capture && { capture }) }, ...more }) as Action
const task = (title: string, more: object = {}) =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const when = (field: string, value: unknown) => ({ when: { field, operator: 'equals', value } })
const ruleOf = (...actions: Action[]) => compileRule({ conditions: [], actions })
const titlesOf = (seen: ReadyAction[]) =>
  seen.flatMap((action) => (action.type === 'CREATE_TASK' ? [action.config.title] : []))

function matchLists(t: Test, found: readonly unknown[], wanted: readonly unknown[], message = '') {
  t.match(found, wanted, message)
  t.equal(found.length, wanted.length, message)
}

/** What the tasks of a rule are called if its calls end so, in their order. */
function titlesAfter(actions: Action[], effects: Effect[], data: object = {}, results: ActionResult[] = []) {
  const seen: ReadyAction[] = []
  const all = drive(
    ruleOf(...actions),
    data,
    start,
    (action) => {
      seen.push(action)
      return action.type === 'SEND_WEBHOOK' ? (effects.shift() as Effect) : { status: 'success' }
    },
    results,
  )
  return { titles: titlesOf(seen), results: all, seen }
}

const failed = (statusCode?: number): Effect => ({
  status: 'failed',
  error: 'HTTP 503',
  ...(statusCode && { output: { statusCode } }),
})
const ok = (captured: Record<string, unknown> = {}): Effect => ({
  status: 'success',
  output: { statusCode: 201 },
  captured,
})

t.test(
  'later actions read what a response had, with its types, and it is never rendered again',
  async (t) => {
    const text = '{{name}} {{captured.n}} {{#each items}}'
    const { seen, results } = titlesAfter(
      [
        call({}, { n: 'body.n', text: 'body.text', list: 'body.list' }),
        task('{{captured.n}}: {{captured.text}}, {{captured.list[1]}} {{captured.gone | default:"none"}}'),
        call({ config: { url: 'https://x.io', body: ['{{captured.n}}', '{{captured.list}}'] } }),
      ],
      [ok({ n: 7, text, list: ['a', 'b'] }), ok()],
      { name: 'Ada' },
    )
    t.strictSame(titlesOf(seen), [`7: ${text}, b none`])
    t.match(seen[2], { config: { body: [7, ['a', 'b']] } })
    t.strictSame(results[0]?.captured, { n: 7, text, list: ['a', 'b'] })
  },
)

t.test('a value that no response had is nothing, with a warning', async (t) => {
  const { titles, results } = titlesAfter([call({}, { n: 'body.n' }), task('ticket {{captured.n}}')], [ok()])
  t.strictSame(titles, ['ticket '])
  t.strictSame(results[1]?.warnings, ['captured.n is missing'])
})

t.test('an action may do the opposite of what another one did: otherwise', async (t) => {
  const actions = [
    call({ name: 'ticket', continueOnError: true }),
    task('done {{actions.ticket.status}}', when('actions.ticket.outcome', 'success')),
    task('failed {{actions.ticket.status}}.', when('actions.ticket.outcome', 'failed')),
  ]
  t.strictSame(titlesAfter(actions, [ok()]).titles, ['done 201'])
  t.strictSame(titlesAfter(actions, [failed(503)]).titles, ['failed 503.'])
  const unanswered = titlesAfter(actions, [failed()])
  t.strictSame(unanswered.titles, ['failed .'])
  t.notOk(unanswered.results[2]?.warnings, 'without a response there is no status, which is no mistake')
  const unknown: ActionResult = { action: 'SEND_WEBHOOK', status: 'unknown' }
  const settled = titlesAfter([...actions, task('{{actions.ticket.outcome}}')], [], {}, [unknown])
  t.strictSame(settled.titles, ['unknown'])
})

t.test('of several actions that capture one value, the last that did counts', async (t) => {
  const actions = [
    call({ name: 'first', continueOnError: true }, { id: 'body.id' }),
    call(when('actions.first.outcome', 'failed'), { id: 'body.key' }),
    task('{{captured.id}}'),
  ]
  t.strictSame(titlesAfter(actions, [ok({ id: 1 })]).titles, ['1'])
  t.strictSame(titlesAfter(actions, [failed(), ok({ id: 2 })]).titles, ['2'])
})

t.test('the roots are data of the event in a rule that does not declare them', async (t) => {
  const data = { captured: { n: 'event' }, actions: { ticket: { outcome: 'event' } } }
  const read = task('{{captured.n}} {{actions.ticket.outcome}} {{actions.other}}')
  t.strictSame(titlesAfter([read], [], data).titles, ['event event '])
  t.strictSame(findRuleFaults({ conditions: [], actions: [read] }), [])
  const named = [call({ name: 'ticket' }), task('{{captured.n}} {{actions.ticket.outcome}}')]
  t.strictSame(titlesAfter(named, [ok()], data).titles, ['event success'])
  const capturing = [call({}, { n: 'body.n' }), task('{{captured.n}} {{actions.ticket.outcome}}')]
  t.strictSame(titlesAfter(capturing, [ok({ n: 1 })], data).titles, ['1 event'])
})

t.test('a rule that declares nothing reads the very data of the event, at no cost', async (t) => {
  const data = { captured: { n: 1 } }
  const evaluation = new Evaluation(start)
  const rule = ruleOf(call(), task('{{captured.n}}'), call({ name: 'unread' }), task('{{captured.n}}'))
  for (const action of rule.actions) t.equal(scopeOf(rule, action, data, [], evaluation), data)
  t.equal(evaluation.spent, 0)
})

t.test('names of objects of the language are names like others', async (t) => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf'] as const) {
    const actions = [
      call({ name }, { [name]: 'body.id' }),
      task(`{{captured.${name}}} {{actions.${name}.outcome}}`),
    ]
    t.strictSame(findRuleFaults({ conditions: [], actions }), [])
    t.strictSame(titlesAfter(actions, [ok({ [name]: 1 })]).titles, ['1 success'])
    t.strictSame(titlesAfter(actions, [failed()]).titles, [])
    t.strictSame(titlesAfter(actions, [ok()]).titles, [' success'])
  }
})

t.test('what is read must be of an earlier action', async (t) => {
  const cases: [actions: Action[], field: string, message: RegExp][] = [
    [
      [call({}, { id: 'body.id' }), task('{{captured.di}}')],
      'actions[1].config.title',
      /no action captures di, but id$/,
    ],
    [
      [task('{{captured.id}}'), call({}, { id: 'body.id' })],
      'actions[0].config.title',
      /actions\[1\] captures id, and is not earlier/,
    ],
    [
      [call({ config: { url: 'https://x.io/{{captured.id}}', capture: { id: 'body.id' } } })],
      'actions[0].config.url',
      /actions\[0\] captures id/,
    ],
    [
      [call({ name: 'a' }), task('x', when('actions.b.outcome', 'failed'))],
      'actions[1].when.field',
      /no action has the name b, but a/,
    ],
    [
      [call({ name: 'a' }), task('x', when('actions.a.result', 'failed'))],
      'actions[1].when.field',
      /actions\.a\.outcome or actions\.a\.status/,
    ],
    [
      [call({ name: 'a' }), task('x', when('actions.a', 'failed'))],
      'actions[1].when.field',
      /actions\.a\.outcome or/,
    ],
    [
      [call({ name: 'a' }), task('{{actions}}')],
      'actions[1].config.title',
      /must name one of them|Must name one of them/,
    ],
    [
      [call({ name: 'a' }), task('{{x | default:actions.c.status}}')],
      'actions[1].config.title',
      /no action has the name c/,
    ],
    [
      [call({ name: 'a' }), task('x', when('actions.a.outcome', { field: 'actions.c.status' }))],
      'actions[1].when.value.field',
      /no action has the name c/,
    ],
    [
      [call({ name: 'a' }), task('x', { name: 'a' })],
      'actions[1].name',
      /unique in the rule: actions\[0\] has this name/,
    ],
    [[call({}, { id: 'headers' })], 'actions[0].config.capture.id', /path of the response/],
    [[call({}, { id: 'headers.a.b' })], 'actions[0].config.capture.id', /path of the response/],
    [[call({}, { id: 'body..id' })], 'actions[0].config.capture.id', /path of the response/],
    [
      [
        call({}, { l: 'body.l' }),
        { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', forEach: 'captured.m', data: {} } } as Action,
      ],
      'actions[1].config.forEach',
      /no action captures m/,
    ],
    [
      [
        call({}, { l: 'body.l' }),
        {
          type: 'SEND_NOTIFICATION',
          config: { url: 'https://x.io', text: '{{#each captured.m}}{{item}}{{/each}}' },
        } as Action,
      ],
      'actions[1].config.text',
      /no action captures m/,
    ],
  ]
  for (const [actions, field, message] of cases)
    matchLists(t, findRuleFaults({ conditions: [], actions }), [{ field, message }], field)
  const conditions = [
    { field: 'actions.a.outcome', operator: 'exists' },
    { some: 'captured.l', that: [{ field: 'x', operator: 'exists' }] },
  ]
  matchLists(t, findRuleFaults({ conditions, actions: [call({ name: 'a' }, { l: 'body.l' })] }), [
    { field: 'conditions[0].field', message: /before its actions/ },
    { field: 'conditions[1].some', message: /before its actions/ },
  ])
  const many = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`v${n}`, 'body']))
  matchLists(t, findRuleFaults({ actions: [call({}, many), call({}, many)] }), [
    { field: 'actions', message: /capture at most 10 values/ },
  ])
})

t.test('a rule of any shape with names and captures is searched without a crash', async (t) => {
  for (const odd of [null, 1, 'x', [], [null], {}, { a: 1 }, { a: null }, { __proto__: null, a: {} }])
    for (const action of [{ name: odd, config: { capture: odd } }, { config: odd, name: 'a' }, odd])
      t.doesNotThrow(() => findRuleFaults({ conditions: odd, actions: [action, action] }))
})

t.test('lists of a response are read by forEach, in conditions and in texts', async (t) => {
  const { seen } = titlesAfter(
    [
      call({}, { lines: 'body.lines', limit: 'body.limit' }),
      {
        type: 'EMIT_EVENT',
        when: { count: 'captured.lines', operator: 'greater_than', value: 1 },
        config: {
          eventType: 'DEAL_WON',
          forEach: 'captured.lines',
          where: [{ field: 'n', operator: 'less_than', value: { root: 'captured.limit' } }],
          data: { n: '{{item.n}}', limit: '{{captured.limit}}' },
        },
      } as Action,
      {
        type: 'SEND_NOTIFICATION',
        config: {
          url: 'https://x.io',
          text: '{{#each captured.lines}}{{item.n}}/{{captured.limit}} {{/each}}',
        },
      } as Action,
    ],
    [ok({ lines: [{ n: 1 }, { n: 2 }], limit: 2 })],
  )
  t.match(seen[1], { events: [{ index: 0, data: { n: 1, limit: 2 } }] })
  t.match(seen[2], { config: { text: '1/2 2/2 ' } })
})

t.test('a retry evaluates a skipped action again only if its when reads a repeated action', async (t) => {
  const actions = [
    call({ name: 'ticket', continueOnError: true }, { id: 'body.id' }),
    task('by outcome', when('actions.ticket.outcome', 'success')),
    task('by value', when('captured.id', 7)),
    task('by event', when('score', 1)),
    task('by a task', { ...when('actions.other.outcome', 'success'), name: 'chain' }),
    task('{{actions.ticket.outcome}}', { name: 'always' }),
  ]
  actions[1] = { ...actions[1], name: 'other' } as Action
  const rule = ruleOf(...actions)
  const first = titlesAfter(actions, [failed()])
  t.strictSame(first.titles, ['failed'])
  t.strictSame(
    first.results.map(({ status }) => status),
    ['failed', 'skipped', 'skipped', 'skipped', 'skipped', 'success'],
  )
  const reopened = structuredClone(first.results)
  reopened[0] = { action: 'SEND_WEBHOOK', status: 'pending' }
  const kept = structuredClone(reopened)
  t.match(findNextAction(rule, { score: 1 }, start, kept), { type: 'SEND_WEBHOOK' })
  t.strictSame(
    kept.map(({ status }) => status),
    ['pending', 'pending', 'pending', 'skipped', 'pending', 'success'],
    'this is stored with the intent of the call, so it outlasts a crash',
  )
  const again = titlesAfter(actions, [ok({ id: 7 })], { score: 1 }, reopened)
  t.strictSame(again.titles, ['by outcome', 'by value', 'by a task'], 'what succeeded is not repeated')
})

t.test('a plan assumes that calls succeed, with the values that it is given', async (t) => {
  const actions = [
    call({ name: 'ticket' }, { id: 'body.id' }),
    task('{{captured.id}} {{actions.ticket.outcome}} {{actions.ticket.status}}'),
    task('otherwise', when('actions.ticket.outcome', 'failed')),
  ]
  const rule = ruleOf(...actions)
  const plan = (given?: object) =>
    simulatePlan(planRule(rule, {}, start, undefined, undefined, given)).results.slice(1)
  matchLists(t, plan({ captured: { id: 7 } }), [
    { config: { title: '7 success 200' } },
    { status: 'skipped' },
  ])
  matchLists(t, plan(), [{ config: { title: ' success 200' }, warnings: ['captured.id is missing'] }, {}])
  matchLists(t, plan({ actions: { ticket: { outcome: 'failed', status: 503 } } }), [
    { config: { title: ' failed 503' } },
    { status: 'simulated' },
  ])
})

t.test('the explanation of an execution reads what was recorded', async (t) => {
  const rule = ruleOf(
    call({ name: 'ticket' }, { id: 'body.id' }),
    task('{{captured.id}}', when('actions.ticket.outcome', 'failed')),
  )
  const results: ActionResult[] = [
    { action: 'SEND_WEBHOOK', status: 'failed', output: { statusCode: 409 }, captured: { id: 'T-1' } },
  ]
  const trace = explainRule(rule, {}, start, undefined, undefined, results)
  t.match(trace.actions[1], { when: { actual: 'failed', verdict: true } })
  const plan = planActions(rule, {}, start, new Evaluation(start), results)
  t.match(plan.actions[1], { config: { title: 'T-1' } })
  t.match(explainRule(rule, {}, start).actions[1], { when: { actual: 'success', verdict: false } })
})

t.test('paths into what was recorded are no misspelt fields of the event', async (t) => {
  const actions = [
    call({ name: 'ticket' }, { id: 'body.id' }),
    task('{{captured.id}} {{actions.ticket.status}}'),
  ]
  t.strictSame(findRuleWarnings({ trigger: 'LEAD_CREATED', conditions: [], actions }), [])
})
