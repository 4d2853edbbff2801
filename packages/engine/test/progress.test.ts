import fc from 'fast-check'
import t from 'tap'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { type Effect, findError, findNextAction, isFailure, settleAction } from '../src/planning/progress.js'
import { type ReadyAction, ruleHolds } from '../src/planning/run.js'
import type { ActionResult } from '../src/results/outcome.js'
import { isOpen } from '../src/results/outcome.js'
import type { Action, RuleDefinition } from '../src/rule.js'
import { Evaluation } from '../src/work/evaluation.js'
import { anyData, anyDefinition } from './fixtures/any-rule.js'
import { draws } from './fixtures/draws.js'
import { drive } from './fixtures/drive.js'

const start = Date.parse('2026-03-10T12:00:00Z')
const hourMs = 3_600_000
const task = (title: string, more: Partial<Action> = {}): Action =>
  ({ type: 'CREATE_TASK', config: { title }, ...more }) as Action
const wait = (duration: string, more: Partial<Action> = {}): Action =>
  ({ type: 'WAIT', config: { duration }, ...more }) as Action
const ruleOf = (...actions: Action[]) => compileRule({ conditions: [], actions })
const isHot = { field: 'score', operator: 'greater_than', value: 80 }
const succeed = (): Effect => ({ status: 'success' })
const done: ActionResult = { action: 'CREATE_TASK', status: 'success' }
const failed: ActionResult = { action: 'CREATE_TASK', status: 'failed', error: 'no route' }
const skipped: ActionResult = { action: 'CREATE_TASK', status: 'skipped', reason: 'an earlier action failed' }

t.test('actions are performed in order, one at a time, and their results have the same order', async (t) => {
  const seen: ReadyAction[] = []
  const rule = ruleOf(task('a'), task('Call {{name}}'), task('c'))
  const results = drive(rule, {}, start, (action) => {
    seen.push(action)
    return { status: 'success', output: { id: seen.length }, warnings: ['slow'] }
  })
  t.strictSame(
    seen.map(({ of }) => of),
    rule.actions,
  )
  t.strictSame(results, [
    { ...done, output: { id: 1 }, warnings: ['slow'] },
    { ...done, output: { id: 2 }, warnings: ['name is missing', 'slow'] },
    { ...done, output: { id: 3 }, warnings: ['slow'] },
  ])
  t.equal(findNextAction(rule, {}, start, results), undefined, 'and nothing is left to do')
})

t.test('after a failed action the rest is skipped, unless it has continueOnError', async (t) => {
  const fail = ({ of }: ReadyAction): Effect =>
    of.index === 1 ? { status: 'failed', error: 'no route', output: { status: 502 } } : { status: 'success' }
  const stopped = drive(ruleOf(task('a'), task('b'), task('c'), wait('1h')), {}, start, fail)
  t.strictSame(stopped, [
    done,
    { ...failed, output: { status: 502 } },
    skipped,
    { ...skipped, action: 'WAIT' },
  ])
  const wentOn = drive(ruleOf(task('a'), task('b', { continueOnError: true }), task('c')), {}, start, fail)
  t.strictSame(wentOn, [done, { ...failed, output: { status: 502 } }, done])
  const spoiled = drive(ruleOf(task('{{no}}'), task('b')), {}, start, () => t.fail('performed') as never)
  t.match(
    spoiled,
    [{ status: 'failed', error: /^config\.title/ }, skipped],
    'the same after a faulty rendered config',
  )
  t.equal(spoiled.length, 2)
})

t.test('an action with an unknown outcome stops an execution like a failure', async (t) => {
  const unknown: ActionResult = { action: 'CREATE_TASK', status: 'unknown', error: 'died' }
  const stopped = [unknown]
  t.equal(findNextAction(ruleOf(task('a'), task('b')), {}, start, stopped), undefined)
  t.strictSame(stopped, [unknown, skipped])
  const going = ruleOf(task('a', { continueOnError: true }), task('b'))
  t.match(findNextAction(going, {}, start, [unknown]), { of: { index: 1 } })
})

t.test('an action whose when does not hold is skipped, and the rest continues', async (t) => {
  const rule = ruleOf(task('{{no}}', { when: { not: isHot } }), task('b', { when: isHot }))
  t.strictSame(drive(rule, { score: 90 }, start, succeed), [
    { action: 'CREATE_TASK', status: 'skipped', reason: 'the condition in `when` did not match' },
    done,
  ])
})

t.test('the actions after a WAIT use the time of its end', async (t) => {
  const isFresh = { field: 'at', operator: 'within_last', value: '1h' }
  const rule = ruleOf(
    task('a', { when: isFresh }),
    wait('90m'),
    task('b', { when: isFresh }),
    task('c', { when: { not: isFresh } }),
    wait('1d'),
    task('d'),
  )
  const seen: ReadyAction[] = []
  const results = drive(rule, { at: '2026-03-10T12:00:00Z' }, start, (action) => {
    seen.push(action)
    return { status: 'success' }
  })
  t.strictSame(
    seen.map(({ of, at }) => [of.index, (at - start) / hourMs]),
    [
      [0, 0],
      [1, 0],
      [3, 1.5],
      [4, 1.5],
      [5, 25.5],
    ],
  )
  t.strictSame(
    results.map(({ until }) => until),
    [undefined, '2026-03-10T13:30:00.000Z', undefined, undefined, '2026-03-11T13:30:00.000Z', undefined],
  )
})

t.test('the actual end of a WAIT counts, not its planned end', async (t) => {
  const over: ActionResult = { action: 'WAIT', status: 'success', until: '2026-03-10T18:00:00.000Z' }
  t.equal(findNextAction(ruleOf(wait('1h'), task('a')), {}, start, [over])?.at, start + 6 * hourMs)
})

t.test('a wait for a retry does not change the time of the actions that follow', async (t) => {
  const rule = ruleOf(task('a', { continueOnError: true }), task('b'))
  const retried: ActionResult = { ...failed, until: '2026-03-10T18:00:00.000Z' }
  t.equal(findNextAction(rule, {}, start, [retried])?.at, start)
})

t.test('an execution with two failures stays stopped, as with one', async (t) => {
  const results = [failed, failed]
  t.equal(findNextAction(ruleOf(task('a'), task('b'), task('c')), {}, start, results), undefined)
  t.strictSame(results, [failed, failed, skipped])
})

t.test('a WAIT that is skipped or has a faulty config takes no time', async (t) => {
  const rule = ruleOf(wait('1h', { when: isHot }), wait('{{no}}h', { continueOnError: true }), task('a'))
  const results: ActionResult[] = []
  t.match(findNextAction(rule, {}, start, results), { of: { index: 2 }, at: start })
  t.match(results, [{ status: 'skipped' }, { status: 'failed', error: /^config\.duration/ }])
  t.equal(results.length, 2)
})

t.test('an unfinished action is performed again; a failed one is not', async (t) => {
  const rule = ruleOf(task('a', { continueOnError: true }), task('b'))
  for (const status of ['running', 'retrying', 'pending', 'scheduled'] as const) {
    const open = { action: 'CREATE_TASK', status }
    t.equal(isOpen(open), true)
    const results = [open]
    t.match(findNextAction(rule, {}, start, results), { of: { index: 0 } }, status)
    t.strictSame(results, [open], 'its result stays until there is a new one')
  }
  for (const status of ['success', 'failed', 'skipped', 'unknown'] as const) {
    const closed = { action: 'CREATE_TASK', status }
    t.equal(isOpen(closed), false)
    t.match(findNextAction(rule, {}, start, [closed]), { of: { index: 1 } }, status)
  }
})

t.test('an action that waits for a retry is skipped once an earlier one has failed', async (t) => {
  const results: ActionResult[] = [failed, { action: 'CREATE_TASK', status: 'retrying' }]
  t.equal(findNextAction(ruleOf(task('a'), task('b')), {}, start, results), undefined)
  t.strictSame(results, [failed, skipped])
})

t.test('the result of an action omits the fields of its effect that only the worker needs', async (t) => {
  const action = findNextAction(ruleOf(task('{{name}} {{b}}')), { b: 1 }, start, [])
  if (action === undefined) throw new Error('There is an action to perform')
  t.strictSame(settleAction(action, { status: 'success' }), { ...done, warnings: ['name is missing'] })
  t.strictSame(
    settleAction(action, {
      status: 'failed',
      error: 'no',
      output: 0,
      warnings: [],
      isFinal: true,
      retryAfterMs: 5,
    }),
    { action: 'CREATE_TASK', status: 'failed', error: 'no', output: 0, warnings: ['name is missing'] },
  )
})

t.test('the error of an execution is that of its first failed action', async (t) => {
  t.equal(findError([]), null)
  t.equal(findError([done, skipped, { action: 'WAIT', status: 'scheduled' }]), null)
  t.equal(findError([done, { ...failed, error: 'first' }, { ...failed, error: 'second' }]), 'first')
  t.equal(findError([{ action: 'CREATE_TASK', status: 'unknown', error: 'died' }]), 'died')
  t.equal(findError([{ action: 'CREATE_TASK', status: 'failed' }]), 'The action failed')
})

t.test('an execution has the same results if another process continues it after any step', async () => {
  const outcomes = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })
  const cut = fc.nat({ max: 4 })
  const open = fc.constantFrom(undefined, 'running', 'retrying', 'pending', 'scheduled')
  fc.assert(
    fc.property(anyDefinition, anyData, outcomes, cut, open, (definition, data, outcomes, cut, open) => {
      fc.pre(findRuleFaults(definition).length === 0)
      const rule = compileRule(definition as RuleDefinition)
      fc.pre(ruleHolds(rule, data, new Evaluation(start)))
      const perform =
        (performed: number[]) =>
        ({ of, at, config }: ReadyAction): Effect => {
          performed.push(of.index)
          return outcomes[of.index]
            ? { status: 'success', output: { at, config } }
            : { status: 'failed', error: `${at}` }
        }
      const inOneGo: number[] = []
      const expected = drive(rule, data, start, perform(inOneGo))
      // The state that a dead worker left: JSON from the database.
      const left = JSON.parse(JSON.stringify(expected.slice(0, cut))) as ActionResult[]
      const next = rule.actions[cut]
      if (open !== undefined && next !== undefined) left.push({ action: next.type, status: open })
      const afterwards: number[] = []
      const results = drive(rule, data, start, perform(afterwards), left)
      return (
        JSON.stringify(results) === JSON.stringify(expected) &&
        afterwards.join() === inOneGo.filter((index) => index >= cut).join()
      )
    }),
    { numRuns: draws(1_000) },
  )
})

t.test('each action is performed at most once, in order, and none after a failure that stops', async () => {
  const outcomes = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(anyDefinition, anyData, outcomes, (definition, data, outcomes) => {
      fc.pre(findRuleFaults(definition).length === 0)
      const rule = compileRule(definition as RuleDefinition)
      const performed: number[] = []
      const results = drive(rule, data, start, ({ of }) => {
        performed.push(of.index)
        return outcomes[of.index] ? { status: 'success' } : { status: 'failed', error: 'no' }
      })
      const stop = results.findIndex(
        (result, index) => isFailure(result) && !rule.actions[index]?.continueOnError,
      )
      return (
        results.length === rule.actions.length &&
        !results.some(isOpen) &&
        performed.every((index, place) => index > (performed[place - 1] ?? -1)) &&
        (stop === -1 || performed.every((index) => index <= stop)) &&
        results.every(({ status }, index) => stop === -1 || index <= stop || status === 'skipped')
      )
    }),
    { numRuns: draws(1_000) },
  )
})
