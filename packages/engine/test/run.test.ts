import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { type ActionConfig, actionDefinitions } from '../src/actions/index.js'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { isFailure, simulatePlan } from '../src/planning/progress.js'
import { explainRule, isReady, planRule } from '../src/planning/run.js'
import { ActionResult } from '../src/results/outcome.js'
import type { Action, RuleDefinition } from '../src/rule.js'
import { anyData, anyDefinition } from './fixtures/any-rule.js'
import { draws } from './fixtures/draws.js'
import { drive } from './fixtures/drive.js'

const now = Date.parse('2026-03-10T12:00:00Z')
const hourMs = 3_600_000
const Results = Type.Array(ActionResult)
const task = (title: string, more: Partial<Action> = {}): Action =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const wait = (duration: string): Action => ({ type: 'WAIT', config: { duration } })
const isHot = { field: 'score', operator: 'greater_than', value: 80 }

function plan(actions: Action[], data: unknown = {}, conditions: RuleDefinition['conditions'] = []) {
  return planRule(compileRule({ conditions, actions }), data, now)
}

t.test('a rule whose conditions pass plans its actions in order, with rendered configs', async (t) => {
  const actions: Action[] = [
    {
      type: 'SEND_EMAIL',
      config: { to: '{{lead.email}}', subject: 'Hi {{lead.name}}', template: 'hot' },
      timeoutMs: 500,
      retry: { attempts: 3 },
      onUncertain: 'stop',
    },
    task('Call {{lead.name}}', { continueOnError: true }),
  ]
  const { conditionsPassed, actions: planned } = plan(actions, { score: 90, lead: { email: 'a@b.c' } }, [
    isHot,
  ])
  t.equal(conditionsPassed, true)
  t.strictSame(
    planned.map(({ warnings }) => warnings),
    [['lead.name is missing'], ['lead.name is missing']],
  )
  t.match(planned, [
    {
      type: 'SEND_EMAIL',
      config: { to: 'a@b.c', subject: 'Hi ', template: 'hot' },
      at: now,
      of: { index: 0, timeoutMs: 500, retry: { attempts: 3 }, onUncertain: 'stop', continueOnError: false },
    },
    {
      type: 'CREATE_TASK',
      config: { title: 'Call ' },
      of: { index: 1, timeoutMs: undefined, retry: undefined, onUncertain: 'retry', continueOnError: true },
    },
  ])
})

t.test('a rule whose conditions do not pass does nothing, without a failure', async (t) => {
  const planned = plan([task('x')], { score: 80 }, [isHot])
  t.strictSame(planned, { conditionsPassed: false, actions: [] })
  const outcome = { success: true, conditionsPassed: false, actionsExecuted: 0, results: [] }
  t.strictSame(simulatePlan(planned), outcome)
})

t.test('the actions after a WAIT are planned for its end', async (t) => {
  const planned = plan([task('a'), wait('2h'), task('b'), wait('{{n}}m'), task('c')], { n: 30 })
  t.strictSame(
    planned.actions.map(({ at }) => (at - now) / hourMs),
    [0, 0, 2, 2, 2.5],
  )
  const isOld = { field: 'at', operator: 'within_last', value: '1h' }
  const at = new Date(now).toISOString()
  const evaluated = plan([task('a', { when: isOld }), wait('2h'), task('b', { when: isOld })], { at })
  t.strictSame(evaluated.actions.map(isReady), [true, true, false])
})

t.test('a WAIT until a date ends at it, moved by its offset, and a past one at once', async (t) => {
  const until = (config: object, data: unknown) => plan([{ type: 'WAIT', config } as Action, task('b')], data)
  const ends = (config: object, data: unknown) => (until(config, data).actions[1]?.at as number) - now
  const day = 24 * hourMs
  t.equal(ends({ until: '2026-03-13T12:00:00Z' }, {}), 3 * day)
  t.equal(ends({ until: '{{a}}', offset: '-1d' }, { a: '2026-03-13T14:00:00+02:00' }), 2 * day)
  t.equal(ends({ until: '{{a}}', offset: '+2h' }, { a: now / 1_000 }), 2 * hourMs, 'Unix seconds')
  t.equal(ends({ until: '{{a}}' }, { a: now + 5 }), 5, 'milliseconds')
  t.equal(ends({ until: '{{a | add_time: "2h"}}' }, { a: '2026-03-10T12:00:00Z' }), 2 * hourMs)
  t.equal(ends({ until: '{{a}}T00:00:00Z' }, { a: '2026-03-11' }), 12 * hourMs)
  t.equal(ends({ until: '{{a}}', offset: '366d' }, { a: '2026-03-10T12:00:00Z' }), 366 * day)
  const past = until({ until: '{{a}}', offset: '-1d' }, { a: '2026-03-11' })
  t.match(past.actions, [{ warnings: [/^config\.until: 2026-03-10T00:00:00\.000Z is past/] }, { at: now }])
  t.match(simulatePlan(until({ until: '{{a}}', offset: '-1d' }, { a: '2026-03-13' })).results[0], {
    status: 'simulated',
    config: { until: '2026-03-13', offset: '-1d' },
    until: '2026-03-12T00:00:00.000Z',
  })
})

t.test('a WAIT until what is no time, or too far ahead, fails and says what it found', async (t) => {
  const faultOf = (data: unknown, offset = '1s') =>
    simulatePlan(plan([{ type: 'WAIT', config: { until: '{{a}}', offset } }], data)).results[0]?.error
  t.equal(faultOf({}), 'config.until must have at least 1 character: {{a}} is missing')
  t.match(faultOf({ a: null }), /: \{\{a\}\} is null$/)
  t.match(faultOf({ a: '' }), /: \{\{a\}\} is empty$/)
  t.match(faultOf({ a: 95 }), /^config\.until: 95 is too small a number for a time/)
  t.match(faultOf({ a: 1e300 }), /^config\.until: .* is too large a number for a time/)
  t.match(faultOf({ a: 'soon' }), /^config\.until: "?soon"? is not a time/)
  t.match(faultOf({ a: '2026-03-13T12:00:00' }), /has no zone, so it is not a time/)
  t.match(faultOf({ a: '1773144000' }), /is a text of digits, not a time/)
  t.match(faultOf({ a: ['2026-03-13'] }), /^config\.until must be (?:a )?string/)
  t.match(faultOf({ a: '2027-03-12' }), /^config\.until: 2027-03-12.* is more than 366 days ahead/)
  t.match(faultOf({ a: '9999-12-31' }, '366d'), /is more than 366 days ahead/)
  t.equal(faultOf({ a: '0000-01-01' }, '-366d'), undefined, 'the earliest time is past')
})

t.test('a dry run shows each action with its rendered config, and counts none', async (t) => {
  const actions = [
    task('Call {{name}}'),
    task('b', { when: isHot }),
    task('{{no}}'),
    task('{{list}}'),
    wait('1d'),
    task('e'),
  ]
  t.strictSame(simulatePlan(plan(actions, { name: 'Ann', list: [1] })), {
    success: false,
    conditionsPassed: true,
    actionsExecuted: 0,
    results: [
      { action: 'CREATE_TASK', status: 'simulated', config: { title: 'Call Ann' } },
      { action: 'CREATE_TASK', status: 'skipped', reason: 'the condition in `when` did not match' },
      {
        action: 'CREATE_TASK',
        status: 'failed',
        error: 'config.title must have at least 1 character: {{no}} is missing',
        config: { title: '' },
        warnings: ['no is missing'],
      },
      {
        action: 'CREATE_TASK',
        status: 'failed',
        error: 'config.title must be a string: {{list}} is a list',
        config: { title: [1] },
      },
      { action: 'WAIT', status: 'simulated', config: { duration: '1d' } },
      { action: 'CREATE_TASK', status: 'simulated', config: { title: 'e' } },
    ],
  })
})

t.test('an action with a faulty rendered config fails without an effect', async (t) => {
  const mail = (config: Partial<ActionConfig<'SEND_EMAIL'>>): Action => ({
    type: 'SEND_EMAIL',
    config: { to: 'a@b.c', subject: 's', template: 't', ...config },
  })
  const hook = (config: Partial<ActionConfig<'SEND_WEBHOOK'>>): Action => ({
    type: 'SEND_WEBHOOK',
    config: { url: 'https://x.io', ...config },
  })
  const emit = (data: string): Action => ({ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data } })
  const cases: [Action, unknown][] = [
    [mail({ to: '{{it}}' }), 'a@b.c, d@e.f'],
    [mail({ to: '{{it}}' }), 'a@b.c\r\nBcc: d@e.f'],
    [mail({ to: '{{it.no}}' }), ''],
    [hook({ url: '{{it}}' }), 'file:///etc/passwd'],
    [hook({ url: 'https://x.io/{{it}}' }), '..'],
    [hook({ url: 'https://{{it.no}}.x.io' }), ''],
    [hook({ headers: { a: '{{it}}' } }), 'b\r\nX-Admin: 1'],
    [hook({ body: ['{{it}}', '{{it}}'] }), 'x'.repeat(600_000)],
    [{ type: 'CREATE_TASK', config: { title: 't', dueIn: '{{it}}' } }, 'soon'],
    [{ type: 'CREATE_TASK', config: { title: '{{it}}' } }, 'x'.repeat(501)],
    [wait('{{it}}'), '400d'],
    [wait('{{it}}'), 7],
    [wait('{{it.no}}'), ''],
    [emit('{{it}}'), 'text'],
    [emit('{{it}}'), [1]],
    [emit('{{it}}'), null],
    [emit('{{it.no}}'), {}],
    [emit('x{{it}}'), {}],
  ]
  for (const [action, it] of cases) {
    const rule = compileRule({ conditions: [], actions: [action] })
    const results = drive(rule, { it }, now, () => t.fail('performed') as never)
    const message = JSON.stringify([action, it]).slice(0, 100)
    t.match(results, [{ action: action.type, status: 'failed', error: /^config/ }], message)
    t.equal(results.length, 1, message)
  }
  const good = compileRule({
    conditions: [],
    actions: [mail({ to: '{{it}}@x.io' }), wait('{{n}}h'), emit('{{object}}'), task('{{n}}')],
  })
  const rendered: unknown[] = []
  const results = drive(good, { it: 'a', n: '5', object: { a: [1] } }, now, ({ config }) => {
    rendered.push(config)
    return { status: 'success' }
  })
  t.strictSame(
    results.map(({ status }) => status),
    ['success', 'success', 'success', 'success'],
  )
  t.equal(rendered.length, 4)
  t.match(rendered, [{ to: 'a@x.io' }, { duration: '5h' }, { eventType: 'DEAL_WON' }, { title: '5' }])
  t.strictSame(rendered[2], { eventType: 'DEAL_WON', data: { a: [1] } })
})

t.test('a trace explains the verdict of the plan', async (t) => {
  const rule = compileRule({
    conditions: [isHot],
    actions: [task('a', { when: { field: 'x', operator: 'exists' } }), task('b')],
  })
  t.strictSame(explainRule(rule, { score: '81' }, now), {
    conditionsPassed: true,
    conditions: [{ field: 'score', operator: 'greater_than', expected: 80, actual: '81', verdict: true }],
    actions: [
      { index: 0, type: 'CREATE_TASK', when: { field: 'x', operator: 'exists', verdict: false } },
      { index: 1, type: 'CREATE_TASK' },
    ],
  })
})

t.test('a rule without faults compiles, and runs on any data as its dry run shows', async () => {
  fc.assert(
    fc.property(anyDefinition, anyData, (definition, data) => {
      fc.pre(findRuleFaults(definition).length === 0)
      const rule = compileRule(definition as RuleDefinition)
      const planned = planRule(rule, data, now)
      const simulated = simulatePlan(planned)
      const real = planned.conditionsPassed
        ? drive(rule, data, now, ({ type, config }) => {
            const known = actionDefinitions.find((definition) => definition.type === type)
            return known && Check(known.config, config)
              ? { status: 'success' }
              : { status: 'failed', error: 'unfit' }
          })
        : []
      return (
        planned.conditionsPassed === explainRule(rule, data, now).conditionsPassed &&
        Check(Results, real) &&
        Check(Results, simulated.results) &&
        real.length === planned.actions.length &&
        real.every(({ error }) => error !== 'unfit') &&
        real.some(isFailure) !== simulated.success
      )
    }),
    { numRuns: draws(1_000) },
  )
})

t.test('each action type is one file and one line in the list', async (t) => {
  const files = readdirSync(new URL('../src/actions/', import.meta.url))
    .filter((name) => name.endsWith('.js') && name !== 'index.js' && name !== 'action-definition.js')
    .map((name) => name.replace('.js', '').replaceAll('-', '_').toUpperCase())
  t.same(actionDefinitions.map(({ type }) => type).sort(), files.sort())
})
