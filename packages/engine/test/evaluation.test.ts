import t from 'tap'
import { compileCondition } from '../src/conditions/conditions.js'
import { findRuleFaults } from '../src/faults/faults.js'
import { compileRule } from '../src/planning/compile-rule.js'
import { findNextAction, isFailure, settleAction, simulatePlan } from '../src/planning/progress.js'
import { explainRule, planActions, planRule, ruleHolds } from '../src/planning/run.js'
import type { Condition } from '../src/rule.js'
import { compileMailTemplate } from '../src/templates/mail-template.js'
import { Evaluation } from '../src/work/evaluation.js'

const task = { type: 'CREATE_TASK' as const, config: { title: 'Task' } }
// Each text of these letters leads to new states, so the automaton of re2js helps nothing.
const wide = '(?i)a[ab]{240}[cd]'
const letters = textOf(20_000)

/** A text of the letters a and b, from a fixed seed. */
function textOf(length: number): string {
  let state = 12_345
  let text = ''
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += (state >> 16) & 1 ? 'a' : 'b'
  }
  return text
}

function holds(condition: Condition, data: object, evaluation: Evaluation): boolean {
  return compileCondition(condition).holds(data, evaluation)
}

t.test('a pattern whose work is used up is given up, and the rule is not evaluated', async (t) => {
  const evaluation = new Evaluation(0)
  const conditions = [{ not: { field: 'text', operator: 'matches', value: wide } }]
  const rule = compileRule({ conditions, actions: [task] })
  t.equal(ruleHolds(rule, { text: letters }, evaluation), false, 'not even by a negation')
  t.equal(evaluation.overrun, 'rule')
  t.match(evaluation.fault, /limit of 1000000 cost units per event/)
  t.equal(ruleHolds(rule, { text: 'short' }, evaluation), true, 'the next evaluation begins with all of it')
  t.equal(evaluation.fault, null)
})

t.test('patterns that build their automaton anew for each text are charged for every step', async (t) => {
  const evaluation = new Evaluation(0, { rule: 1e12, event: 1e12 })
  let tests = 0
  const limited = new Evaluation(0)
  limited.beginRule()
  while (limited.fault === null && tests < 100) {
    holds(
      { field: 'text', operator: 'matches', value: wide },
      { text: letters.slice(tests, 4_000 + tests) },
      limited,
    )
    tests++
  }
  t.ok(tests <= 4, `${tests} tests of 4,000 characters use up what a rule may cost`)
  evaluation.beginRule()
})

t.test('a pattern that has built its automaton is charged for the characters alone', async (t) => {
  const evaluation = new Evaluation(0, { rule: 2_000_000, event: 2_000_000 })
  evaluation.beginRule()
  const value = '(?i)(refund|cancel|angry|complaint|lawyer|broken|late|damage|return|chargeback|terrible)'
  const compiled = compileCondition({ field: 'text', operator: 'matches', value })
  const text = 'a long message about nothing in particular, '.repeat(30)
  for (let n = 0; n < 1_000; n++)
    t.equal(compiled.holds({ text }, evaluation) || evaluation.fault !== null, false)
  t.equal(evaluation.fault, null, '1.3 million characters, where each would have cost 90 units')
})

t.test('the work of all rules of an event is limited, too', async (t) => {
  const evaluation = new Evaluation(0, { rule: 10_000, event: 25_000 })
  const rule = compileRule({
    conditions: [{ field: 'list', operator: 'contains', value: 'x' }],
    actions: [task],
  })
  const data = { list: Array.from({ length: 9_000 }, () => 'y') }
  const overruns = [1, 2, 3].map(() => {
    ruleHolds(rule, data, evaluation)
    return evaluation.overrun
  })
  t.same(overruns, [null, null, 'event'])
  t.match(evaluation.fault, /shared evaluation limit of 25000 cost units/)
})

t.test('lists, and long texts that are sought in long texts, are charged', async (t) => {
  const cases: [Condition, object][] = [
    [{ field: 'list', operator: 'contains_all', value: ['x'] }, { list: Array(300_000).fill(1) }],
    [{ field: 'list', operator: 'contains_any', value: ['x'] }, { list: Array(2_100_000).fill(1) }],
    [
      // V8 compares nearly every character at every place of such texts.
      { field: 'text', operator: 'contains', value: `${'a'.repeat(4_999)}b${'a'.repeat(5_000)}` },
      { text: 'a'.repeat(1_000_000) },
    ],
    [
      {
        field: 'text',
        operator: 'contains_any',
        value: Array.from({ length: 100 }, (_, n) => `${'a'.repeat(99)}b${n}`),
      },
      { text: 'a'.repeat(100_000) },
    ],
  ]
  for (const [condition, data] of cases) {
    const evaluation = new Evaluation(0)
    const startedAt = process.cpuUsage()
    t.equal(holds(condition, data, evaluation), false)
    t.equal(evaluation.overrun, 'rule', JSON.stringify(condition).slice(0, 60))
    t.ok(process.cpuUsage(startedAt).user < 2_000_000, 'and never begun, or soon given up')
  }
})

t.test('a trace shows the clauses that were not evaluated, and the beginning of long values', async (t) => {
  const rule = compileRule({
    conditions: [
      { field: 'text', operator: 'exists' },
      { field: 'text', operator: 'not_matches', value: wide },
      { field: 'list', operator: 'is_empty' },
      { field: 'deep', operator: 'exists' },
    ],
    actions: [task],
  })
  const data = { text: letters, list: Array(5_000).fill('item'), deep: { a: { b: 'c'.repeat(5_000) }, d: 1 } }
  const { conditionsPassed, conditions } = explainRule(rule, data, 0)
  t.equal(conditionsPassed, false)
  const [first, second] = conditions
  t.match(first, { verdict: true })
  t.match(second, { verdict: false, warning: /cost units per event/ })
  t.ok(JSON.stringify(conditions).length < 8_000, 'an excerpt of each value')
  t.match(JSON.stringify(conditions), /…/)
})

t.test('a dry run says that the conditions could not be evaluated', async (t) => {
  const rule = compileRule({
    conditions: [{ field: 'text', operator: 'matches', value: wide }],
    actions: [task],
  })
  const outcome = simulatePlan(planRule(rule, { text: letters }, 0))
  t.match(outcome, {
    success: false,
    conditionsPassed: false,
    results: { length: 0 },
    error: /cost units per event/,
  })
})

t.test('an action whose `when` needs too much work fails', async (t) => {
  const when = { field: 'text', operator: 'not_matches', value: wide }
  const rule = compileRule({ conditions: [], actions: [{ ...task, when }] })
  const results: Parameters<typeof findNextAction>[3] = []
  t.equal(findNextAction(rule, { text: letters }, 0, results), undefined)
  t.match(results, [{ status: 'failed', error: /^when: The rule exceeds the evaluation limit/ }])
})

t.test('the patterns of one rule have a limit together, and what is beyond it costs nothing', async (t) => {
  const clauses = (count: number, pattern: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => ({ field: 'text', operator: 'matches', value: pattern(n) }))
  const faults = findRuleFaults({ conditions: clauses(12, (n) => `[ab]{${480 + n}}`), actions: [task] })
  t.match(faults, [{ field: 'conditions', message: /5000 instructions/ }])
  t.same(findRuleFaults({ conditions: clauses(10, (n) => `[ab]{${480 + n}}`), actions: [task] }), [])
  const startedAt = process.cpuUsage()
  t.match(findRuleFaults({ conditions: clauses(4_000, (n) => `\\p{L}{400}${n}`), actions: [task] }), [
    { message: /at most 50 conditions/ },
    { message: /5000 instructions/ },
  ])
  t.ok(process.cpuUsage(startedAt).user < 2_000_000, 'they would take 14 s to compile')
})

t.test('a long text is tested as far as the work really reaches', async (t) => {
  const words = Array.from({ length: 47 }, (_, n) => `keyword${n}x`).join('|')
  const { holds } = compileCondition({ field: 'text', operator: 'matches', value: `(?i)\\b(${words})\\b` })
  const text = 'an ordinary sentence of a message that somebody has written. '.repeat(1_600)
  const evaluate = (text: string) => {
    const evaluation = new Evaluation(0)
    return [holds({ text }, evaluation), evaluation.overrun]
  }
  t.same(evaluate(text), [false, null], '97,600 characters for some 400 instructions')
  t.same(evaluate(`${text} Keyword46X`), [true, null])
})

t.test('a pattern that runs step by step is charged for its steps', async (t) => {
  const value = `^(?:${'()'.repeat(150)}a)*[bc]$`
  const condition = { any: Array.from({ length: 10 }, () => ({ field: 'text', operator: 'matches', value })) }
  const evaluation = new Evaluation(0)
  t.equal(holds(condition, { text: 'a'.repeat(4_000) }, evaluation), false)
  t.equal(evaluation.overrun, 'rule')
})

t.test('a pattern is not compiled again where the work is used up', async (t) => {
  const values = Array.from({ length: 2_400 }, (_, n) => `(?i)[a-z]{${300 + (n % 190)}}x${n}`)
  const compiled = values.map((value) => compileCondition({ field: 'text', operator: 'matches', value }))
  const startedAt = process.cpuUsage()
  for (let n = 0; n < 5; n++) {
    const evaluation = new Evaluation(0, { rule: 1_000_000, event: 1_000_000 })
    for (const { holds } of compiled) holds({ text: 'zz' }, evaluation)
    t.equal(evaluation.overrun, 'rule')
  }
  t.ok(process.cpuUsage(startedAt).user < 3_000_000, 'to compile all of them five times takes some 10 s')
})

t.test('what an operator looks at in full is looked at once', async (t) => {
  const large = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key${n}`, n]))
  const data = { large, digits: '9'.repeat(1_000_000) }
  const clauses = ['is_empty', 'is_not_empty', 'exists'].flatMap((operator) =>
    Array.from({ length: 16 }, () => ({ field: 'large', operator })),
  )
  const numbers = Array.from({ length: 50 }, () => ({ field: 'digits', operator: 'equals', value: 7 }))
  const rule = compileRule({ conditions: [{ any: clauses }, { any: numbers }], actions: [task] })
  const startedAt = process.cpuUsage()
  for (let n = 0; n < 20; n++) explainRule(rule, data, 0)
  t.ok(process.cpuUsage(startedAt).user < 1_500_000)
})

t.test('rendering is charged, and stops where the work is used up', async (t) => {
  const large = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, 'value']))
  const render = (title: string, data: object) =>
    planRule(compileRule({ conditions: [], actions: [{ type: 'CREATE_TASK', config: { title } }] }), data, 0)
  const fault = /cost units per event|renders to more than/
  const startedAt = process.cpuUsage()
  t.match(render('{{o}}'.repeat(200), { o: large }).actions, [{ fault }])
  const encoded = `{{text${'|urlencode'.repeat(8)}}}`.repeat(100)
  t.match(render(encoded, { text: 'ä'.repeat(150_000) }).actions, [{ fault }])
  t.ok(process.cpuUsage(startedAt).user < 2_000_000)
})

t.test('what filters read is charged, however little they write', async (t) => {
  const cases: [string, unknown][] = [
    ['{{value | trim}}', ' '.repeat(1_000_000)],
    ['{{value | truncate:1}}', Array(100_000).fill('12345678')],
  ]
  for (const [placeholder, value] of cases) {
    let reads = 0
    const data = {
      get value() {
        reads++
        return value
      },
    }
    const title = placeholder.repeat(200)
    const rule = compileRule({ conditions: [], actions: [{ type: 'CREATE_TASK', config: { title } }] })
    t.match(planRule(rule, data, 0).actions, [{ fault: /cost units per event/ }], placeholder)
    t.ok(reads <= 3, `${reads} of 200 placeholders were filled`)
    reads = 0
    const mail = compileMailTemplate({ text: title }).render(data, {}, new Evaluation(0))
    t.match(mail, { fault: /cost units per event/ }, placeholder)
    t.ok(reads <= 3, `${reads} of 200 placeholders of a mail were filled`)
  }
})

t.test('the beginning of a long text costs as much as the beginning', async (t) => {
  const title = '{{text | truncate:2}}'.repeat(100)
  const rule = compileRule({ conditions: [], actions: [{ type: 'CREATE_TASK', config: { title } }] })
  const evaluation = new Evaluation(0)
  t.match(planActions(rule, { text: 'x'.repeat(1_000_000) }, 0, evaluation).actions, [
    { type: 'CREATE_TASK' },
  ])
  t.equal(evaluation.spent, 100)
})

t.test('the actions of a plan have the work of the turns of a worker', async (t) => {
  const data = { list: Array(8_000).fill('x'.repeat(90)) }
  const call = { type: 'SEND_WEBHOOK' as const, config: { url: 'https://a.example/', body: '{{list}}' } }
  const heavy = { ...task, config: { title: '{{list | truncate:9}}' }, continueOnError: true }
  const cases = [
    { actions: [call, call, call, call], faults: [false, false, false, false] },
    { actions: [heavy, heavy, heavy, heavy, call], faults: [false, false, true, true, true] },
    { actions: [heavy, call, heavy, call, heavy], faults: [false, false, false, false, false] },
  ]
  for (const { actions, faults } of cases) {
    const rule = compileRule({ conditions: [], actions })
    const planned = planRule(rule, data, 0).actions.map((action) => 'fault' in action)
    t.same(planned, faults)
    const results: Parameters<typeof findNextAction>[3] = []
    const evaluation = new Evaluation(0)
    for (;;) {
      const action = findNextAction(rule, data, 0, results, evaluation)
      if (action === undefined) break
      results[action.of.index] = settleAction(action, { status: 'success' })
      if (action.type === 'SEND_WEBHOOK') evaluation.beginRule()
    }
    t.same(results.map(isFailure), faults)
  }
})

t.test('when the work of an event is used up, its other rules are not evaluated', async (t) => {
  const clauses = Array.from({ length: 11 }, (_, n) => ({
    field: 'text',
    operator: 'matches',
    value: `(?i)a[ab]{${400 + n}}[cd]`,
  }))
  const rule = compileRule({ conditions: [{ any: clauses }], actions: [task] })
  const text = Array.from({ length: 4_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join('')
  const evaluation = new Evaluation(0, { rule: 2_000_000, event: 2_000_000 })
  ruleHolds(rule, { text }, evaluation)
  const startedAt = process.cpuUsage()
  const overruns = new Set<unknown>()
  for (let n = 0; n < 2_000; n++) {
    ruleHolds(rule, { text }, evaluation)
    overruns.add(evaluation.overrun)
  }
  t.same([...overruns], ['event'])
  t.ok(process.cpuUsage(startedAt).user < 1_000_000, 'to begin with each of them takes some 6 s')
})
