import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { Check } from 'typebox/value'
import { findRuleFaults } from '../src/faults.js'
import { type ActionConfig, actionDefinitions } from '../src/index.js'
import { Outcome } from '../src/outcome.js'
import type { Action, RuleDefinition } from '../src/rule.js'
import { compileRule, explainRule, planRule, type ReadyAction } from '../src/run.js'
import { type Effect, settlePlan, simulatePlan } from '../src/settle.js'

const now = Date.parse('2026-03-10T12:00:00Z')
const task = (title: string, more: Partial<Action> = {}): Action =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const isHot = { field: 'score', operator: 'greater_than', value: 80 }

function plan(actions: Action[], data: unknown = {}, conditions: RuleDefinition['conditions'] = []) {
  return planRule(compileRule({ conditions, actions }), data, now)
}

const succeed = async (): Promise<Effect> => ({ status: 'success' })

t.test('a rule whose conditions pass runs its actions in order, on rendered configs', async (t) => {
  const seen: ReadyAction[] = []
  const actions: Action[] = [
    {
      type: 'SEND_EMAIL',
      config: { to: '{{lead.email}}', subject: 'Hi {{lead.name}}', template: 'hot' },
      timeoutMs: 500,
    },
    task('Call {{lead.name}}', { continueOnError: true }),
  ]
  const outcome = await settlePlan(
    plan(actions, { score: 90, lead: { email: 'a@b.c' } }, [isHot]),
    async (action) => {
      seen.push(action)
      return action.type === 'SEND_EMAIL' ? { status: 'success', output: { id: 7 } } : { status: 'success' }
    },
  )
  t.strictSame(outcome, {
    success: true,
    conditionsPassed: true,
    actionsExecuted: 2,
    results: [
      { action: 'SEND_EMAIL', status: 'success', output: { id: 7 }, warnings: ['lead.name is missing'] },
      { action: 'CREATE_TASK', status: 'success', warnings: ['lead.name is missing'] },
    ],
  })
  t.match(seen, [
    {
      index: 0,
      config: { to: 'a@b.c', subject: 'Hi ', template: 'hot' },
      timeoutMs: 500,
      continueOnError: false,
    },
    { index: 1, config: { title: 'Call ' }, timeoutMs: undefined, continueOnError: true },
  ])
})

t.test('a rule whose conditions do not pass does nothing, and that is no failure', async (t) => {
  const planned = plan([task('x')], { score: 80 }, [isHot])
  const outcome = { success: true, conditionsPassed: false, actionsExecuted: 0, results: [] }
  t.strictSame(await settlePlan(planned, () => t.fail('performed') as never), outcome)
  t.strictSame(simulatePlan(planned), outcome)
})

t.test('after a failed action the rest is skipped, unless it says to go on', async (t) => {
  const fail = async ({ index }: ReadyAction): Promise<Effect> =>
    index === 1 ? { status: 'failed', error: 'no route', output: { status: 502 } } : { status: 'success' }
  const stopped = await settlePlan(plan([task('a'), task('b'), task('c'), task('d')]), fail)
  t.strictSame(stopped, {
    success: false,
    conditionsPassed: true,
    actionsExecuted: 1,
    results: [
      { action: 'CREATE_TASK', status: 'success' },
      { action: 'CREATE_TASK', status: 'failed', error: 'no route', output: { status: 502 } },
      { action: 'CREATE_TASK', status: 'skipped', reason: 'an earlier action failed' },
      { action: 'CREATE_TASK', status: 'skipped', reason: 'an earlier action failed' },
    ],
  })
  const wentOn = await settlePlan(plan([task('a'), task('b', { continueOnError: true }), task('c')]), fail)
  t.match(wentOn, {
    success: false,
    actionsExecuted: 2,
    results: [{}, { status: 'failed' }, { status: 'success' }],
  })
})

t.test('an action whose when does not hold is skipped, and the rest goes on', async (t) => {
  const actions = [task('{{no}}', { when: { not: isHot } }), task('b', { when: isHot })]
  const outcome = await settlePlan(plan(actions, { score: 90 }), succeed)
  t.strictSame(outcome.results, [
    { action: 'CREATE_TASK', status: 'skipped', reason: 'when did not hold' },
    { action: 'CREATE_TASK', status: 'success' },
  ])
  t.equal(outcome.success, true)
})

t.test('what an effect throws is a surprise and goes to the caller', async (t) => {
  await t.rejects(
    settlePlan(plan([task('a', { continueOnError: true })]), async () => {
      throw new Error('bug')
    }),
    { message: 'bug' },
  )
})

t.test('a dry run shows each action as it would be, and counts none', async (t) => {
  const actions = [
    task('Call {{name}}'),
    task('b', { when: isHot }),
    task('{{no}}'),
    task('{{list}}'),
    task('e'),
  ]
  t.strictSame(simulatePlan(plan(actions, { name: 'Ann', list: [1] })), {
    success: false,
    conditionsPassed: true,
    actionsExecuted: 0,
    results: [
      { action: 'CREATE_TASK', status: 'simulated', config: { title: 'Call Ann' } },
      { action: 'CREATE_TASK', status: 'skipped', reason: 'when did not hold' },
      {
        action: 'CREATE_TASK',
        status: 'failed',
        error: 'config.title must not have fewer than 1 characters',
        config: { title: '' },
        warnings: ['no is missing'],
      },
      {
        action: 'CREATE_TASK',
        status: 'failed',
        error: 'config.title must be string',
        config: { title: [1] },
      },
      { action: 'CREATE_TASK', status: 'simulated', config: { title: 'e' } },
    ],
  })
})

t.test('a config that rendering spoiled fails its action without an effect', async (t) => {
  const mail = (config: Partial<ActionConfig<'SEND_EMAIL'>>): Action => ({
    type: 'SEND_EMAIL',
    config: { to: 'a@b.c', subject: 's', template: 't', ...config },
  })
  const hook = (config: Partial<ActionConfig<'SEND_WEBHOOK'>>): Action => ({
    type: 'SEND_WEBHOOK',
    config: { url: 'https://x.io', ...config },
  })
  const cases: [Action, string][] = [
    [mail({ to: '{{it}}' }), 'a@b.c, d@e.f'],
    [mail({ to: '{{it}}' }), 'a@b.c\r\nBcc: d@e.f'],
    [mail({ cc: '{{it.no}}' }), ''],
    [hook({ url: '{{it}}' }), 'file:///etc/passwd'],
    [hook({ url: '{{it}}://x' }), 'ftp'],
    [hook({ url: 'https://{{it.no}}' }), ''],
    [hook({ headers: { a: '{{it}}' } }), 'b\r\nX-Admin: 1'],
    [hook({ body: ['{{it}}', '{{it}}'] }), 'x'.repeat(600_000)],
    [{ type: 'CREATE_TASK', config: { title: 't', dueIn: '{{it}}' } }, 'soon'],
    [{ type: 'CREATE_TASK', config: { title: '{{it}}' } }, 'x'.repeat(501)],
  ]
  for (const [action, it] of cases) {
    const outcome = await settlePlan(plan([action], { it }), () => t.fail('performed') as never)
    t.match(
      outcome,
      { success: false, results: [{ status: 'failed', error: /^config/ }] },
      JSON.stringify(action),
    )
  }
  const good = plan(
    [mail({ to: '{{it}}@x.io' }), { type: 'CREATE_TASK', config: { title: 't', dueIn: '{{n}}h' } }],
    { it: 'a', n: 5 },
  )
  t.match(await settlePlan(good, succeed), { success: true, actionsExecuted: 2 })
})

t.test('a trace tells why, with the verdict of the plan', async (t) => {
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

t.test('a rule without faults compiles, and plans and settles on any data', async () => {
  const text = fc.constantFrom(
    '{{a}}',
    'x {{a.b}}',
    '{{a[0] | default:"x"}}',
    '{{b | date}}',
    '{{a | json | truncate:9}}',
    'plain',
    'a@b.c',
    'https://x.io',
    '4h',
  )
  const when = fc.constantFrom(
    isHot,
    { any: [isHot, { field: 'a', operator: 'contains', value: 'x' }] },
    { not: { field: 'b', operator: 'within_last', value: '1d' } },
  )
  const config = {
    CREATE_TASK: fc.record({ title: text, dueIn: text }, { requiredKeys: ['title'] }),
    SEND_EMAIL: fc.record({
      to: text,
      subject: text,
      template: text,
      variables: fc.dictionary(fc.string(), text),
    }),
    SEND_WEBHOOK: fc.record({ url: text, headers: fc.record({ a: text }), body: fc.jsonValue() }),
    SEND_NOTIFICATION: fc.record({ url: text, text }),
  }
  const action = fc
    .constantFrom(...actionDefinitions)
    .chain(({ type }) =>
      fc.record(
        { type: fc.constant(type), config: config[type], when, continueOnError: fc.boolean() },
        { requiredKeys: ['type', 'config'] },
      ),
    )
  const definition = fc.record({
    conditions: fc.array(when, { maxLength: 3 }),
    actions: fc.array(action, { minLength: 1, maxLength: 4 }),
  })
  const data = fc.oneof(
    fc.jsonValue(),
    fc.record({
      a: fc.oneof(fc.jsonValue(), text),
      b: fc.jsonValue(),
      score: fc.constantFrom(81, '90', '90x', null),
    }),
  )
  await fc.assert(
    fc.asyncProperty(definition, data, async (definition, data) => {
      fc.pre(findRuleFaults(definition).length === 0)
      const rule = compileRule(definition as RuleDefinition)
      const planned = planRule(rule, data, now)
      const real = await settlePlan(planned, async ({ type, config }) => {
        const known = actionDefinitions.find((definition) => definition.type === type)
        return known && Check(known.config, config)
          ? { status: 'success' }
          : { status: 'failed', error: 'unfit' }
      })
      return (
        planned.conditionsPassed === explainRule(rule, data, now).conditionsPassed &&
        Check(Outcome, real) &&
        Check(Outcome, simulatePlan(planned)) &&
        real.results.length === planned.actions.length &&
        real.results.every(({ error }) => error !== 'unfit') &&
        real.success === simulatePlan(planned).success
      )
    }),
    { numRuns: 1000 },
  )
})

t.test('each action type is one file and one line in the list', async (t) => {
  const files = readdirSync(new URL('../src/actions/', import.meta.url))
    .filter((name) => name.endsWith('.js') && name !== 'index.js' && name !== 'action-definition.js')
    .map((name) => name.replace('.js', '').replaceAll('-', '_').toUpperCase())
  t.same(actionDefinitions.map(({ type }) => type).sort(), files.sort())
})
