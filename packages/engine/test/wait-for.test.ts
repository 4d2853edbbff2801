import fc from 'fast-check'
import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { findNextAction, simulatePlan } from '../src/planning/progress.js'
import { planRule } from '../src/planning/run.js'
import { endsWait, keepWaited, readMatch, type WaitFor, writeMatch } from '../src/planning/wait-for.js'
import type { ActionResult } from '../src/results/outcome.js'
import type { Action } from '../src/rule.js'
import { areEqual } from '../src/values/comparison.js'
import { Evaluation } from '../src/work/evaluation.js'

const now = Date.parse('2026-03-10T12:00:00Z')
const awaited = { eventType: 'DEAL_WON', match: { 'deal.id': '{{id}}' }, then: 'go_on' }
const wait = (config: object = {}, more: object = {}) =>
  ({ type: 'WAIT', config: { duration: '1d', for: { ...awaited, ...config } }, ...more }) as Action
const task = (title: string, more: object = {}) =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const faultsOf = (...actions: Action[]) =>
  findRuleFaults({ conditions: [], actions }).map(({ field, message }) => `${field}: ${message}`)

t.test('faults of a WAIT for an event are found where they stand', async (t) => {
  const { for: _, ...endless } = wait().config as { for: object; duration?: string }
  t.strictSame(faultsOf(wait()), [])
  t.strictSame(faultsOf({ type: 'WAIT', config: { for: awaited } } as Action), [
    'actions[0].config.duration: Required, unless there is until',
  ])
  t.match(faultsOf(wait({ match: { 'credentials.KEY': 1 } })), [
    /^actions\[0\]\.config\.for\.match\.credentials/,
  ])
  t.match(faultsOf(wait({ match: { 'a..b': 1 } })), [/match\.a\.\.b: Must be a field path such as deal\.id$/])
  t.match(faultsOf(wait({ match: { a: '{{b | shout}}' } })), [/^actions\[0\]\.config\.for\.match\.a: /])
  t.match(faultsOf(wait({ conditions: [{ field: 'a..b', operator: 'exists' }] })), [
    /^actions\[0\]\.config\.for\.conditions\[0\]\.field: /,
  ])
  const clause = { field: 'a', operator: 'exists' }
  t.match(faultsOf(wait({ conditions: Array(51).fill(clause) })), [/^conditions: Must have at most 50/])
  t.match(faultsOf(wait({ conditions: [{ field: 'a', operator: 'equals', value: '{{b}}' }] })), { length: 0 })
  t.ok(endless.duration)
})

t.test('waited and ended are words of a rule that waits, after its WAIT, and data elsewhere', async (t) => {
  const reads = (title: string) => task(title)
  t.strictSame(faultsOf(wait(), reads('{{waited.a}}')), [])
  t.match(faultsOf(reads('{{waited.a}}'), wait()), [/actions\[1\] waits for an event, and is not earlier$/])
  t.match(faultsOf(wait({ match: { a: '{{waited.b}}' } })), [/is not earlier$/])
  t.strictSame(faultsOf(wait(), wait({ match: { a: '{{waited.b}}' } })), [])
  t.strictSame(faultsOf(reads('{{waited.a}}')), [], 'without a WAIT it is data')
  t.strictSame(faultsOf(wait({}, { name: 'w' }), reads('{{actions.w.ended}} {{actions.w.outcome}}')), [])
  t.match(faultsOf(task('x', { name: 'w' }), wait(), reads('{{actions.w.ended}}')), [
    /Must read actions\.w\.outcome or actions\.w\.status$/,
  ])
  const ownField = { conditions: [{ field: 'waited.a', operator: 'exists' }] }
  t.strictSame(faultsOf(wait(ownField)), [], 'conditions read the other event')
  t.match(findRuleFaults({ conditions: [{ field: 'waited.a', operator: 'exists' }], actions: [wait()] }), [
    { field: 'conditions[0].field', message: /^Must not read waited\.a/ },
  ])
})

t.test('a dry run shows what it waits for; what follows is planned as if time ended it', async (t) => {
  const named = wait({}, { name: 'w' })
  const actions = [named, task('{{actions.w.ended}} {{waited.a}}')]
  const plan = planRule(compileRule({ conditions: [], actions }), { id: 7 }, now)
  t.match(simulatePlan(plan).results, [
    { status: 'simulated', config: { for: { eventType: 'DEAL_WON', match: { 'deal.id': 7 } } } },
    { status: 'simulated', config: { title: 'time ' } },
  ])
  t.equal(plan.actions[1]?.at, now + 86_400_000)
  for (const id of [undefined, null, '', [1], {}]) {
    const { results } = simulatePlan(planRule(compileRule({ conditions: [], actions }), { id }, now))
    t.match(results, [{ status: 'failed', error: /^config\.for\.match\.deal\.id must / }])
  }
})

t.test('an event stops the rest where the rule says so, and time never does', async (t) => {
  const rule = compileRule({ conditions: [], actions: [wait({ then: 'stop' }), task('x')] })
  const ended = (end: 'event' | 'time'): ActionResult[] => [{ action: 'WAIT', status: 'success', ended: end }]
  const stopped = ended('event')
  t.equal(findNextAction(rule, { id: 7 }, now, stopped), undefined)
  t.match(stopped[1], { status: 'skipped', reason: 'an event ended the WAIT before it' })
  t.match(findNextAction(rule, { id: 7 }, now, ended('time')), { type: 'CREATE_TASK' })
})

t.test('values that are equal meet under one key, and nothing else ends a WAIT', (t) => {
  const scalar = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.string({ minLength: 1 }),
    fc.constantFrom('7', '7.0', '07', 7, '-0', 0, '9007199254740993', '9007199254740992', 2 ** 53, 'true'),
  )
  const waitFor: WaitFor = {
    eventType: 'DEAL_WON',
    isDecision: false,
    then: 'go_on',
    paths: ['a.b'],
    conditions: [],
  }
  fc.assert(
    fc.property(scalar, scalar, (wanted, actual) => {
      const data = { a: { b: actual } }
      const found = readMatch(waitFor.paths, data)
      const meets =
        found !== undefined && writeMatch('DEAL_WON', found) === writeMatch('DEAL_WON', { 'a.b': wanted })
      const ends = endsWait(waitFor, { 'a.b': wanted }, data, new Evaluation(now))
      return ends === areEqual(actual, wanted) && (!ends || meets)
    }),
  )
  for (const data of [{}, { a: null }, { a: { b: null } }, { a: { b: '' } }, { a: { b: [7] } }, null, 5])
    t.equal(readMatch(['a.b'], data), undefined)
  t.strictSame(readMatch(['a'], { a: 1 }), { a: 1 })
  t.ok(readMatch(['a'], { a: 'x'.repeat(1_000) }))
  t.equal(readMatch(['a'], { a: 'x'.repeat(1_001) }), undefined, 'no WAIT has a longer one')
  t.not(writeMatch('A', { a: 1, b: 2 }), writeMatch('A', { a: 2, b: 1 }))
  t.equal(writeMatch('A', { a: 1, b: 2 }), writeMatch('A', { b: 2, a: 1 }))
  t.end()
})

t.test('conditions that need too much work do not hold, and the evaluation says so', async (t) => {
  const [action] = compileRule({
    conditions: [],
    actions: [wait({ conditions: [{ some: 'list', that: [{ field: '.', operator: 'equals', value: 1 }] }] })],
  }).actions
  const evaluation = new Evaluation(now, { rule: 100, event: 1_000 })
  const data = { deal: { id: 7 }, list: Array(1_000).fill(0).concat(1) }
  t.equal(endsWait(action?.waitFor as WaitFor, { 'deal.id': 7 }, data, evaluation), false)
  t.match(evaluation.fault, /evaluation limit/)
})

t.test(
  'of the event that ended a WAIT those fields are kept that the rule reads, up to a limit',
  async (t) => {
    const rule = (...titles: string[]) =>
      compileRule({ conditions: [], actions: [wait(), ...titles.map((title) => task(title))] }).waitedFields
    t.strictSame(rule('{{waited.a.b}}', '{{x | default:waited.c}}', '{{a}}'), ['a', 'c'])
    t.equal(rule('{{waited | json}}'), undefined, 'all of it')
    t.strictSame(keepWaited({ a: 1, b: 2 }, ['a']), { waited: { a: 1 }, warnings: [] })
    const long = keepWaited({ a: 'x'.repeat(20_000), b: 2 }, undefined)
    t.strictSame(long, { waited: { b: 2 }, warnings: ['waited.a is too long to be kept'] })
    t.strictSame(Object.keys(keepWaited(JSON.parse('{"__proto__":1}'), undefined).waited), ['__proto__'])
  },
)
