import { checkRules } from '@automation/check'
import { type CheckedRule, WorkBudget } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const mb = 1_048_576
type Conditions = CheckedRule['conditions']

const texts = (count: number, prefix = '') => Array.from({ length: count }, (_, n) => `${prefix}${n}x`)
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const repeat = (count: number, make: (n: number) => Conditions[number]): Conditions =>
  Array.from({ length: count }, (_, n) => make(n))
const onTags = (operator: string, value: unknown): Conditions[number] => ({ field: 'tags', operator, value })

/** Rules whose combinations of values are too many, or would each take long to find. */
const hostile: Record<string, Conditions> = {
  'ten lists that need a hundred texts': [
    ...repeat(10, (n) => onTags('contains_all', texts(100, `${n}-`))),
    onTags('contains_any', texts(100)),
  ],
  'lists of numbers, each of which can be written in two ways': repeat(3, () =>
    onTags('contains_all', [...numbers(10), ...texts(9_000)]),
  ),
  'one list of thirty thousand numbers': [onTags('contains_all', numbers(30_000))],
  'one of thirty thousand numbers': [onTags('contains_any', numbers(30_000))],
  'two of ten thousand texts': repeat(2, (n) => onTags('contains_any', texts(10_000, `${n}-`))),
  'beginnings and ends': [
    ...repeat(25, (n) => onTags('starts_with', `${n}`)),
    ...repeat(25, (n) => onTags('ends_with', `${n}`)),
  ],
  'a text with all characters': [
    onTags('contains', 'xyzqwjkXYZ-_~ '),
    onTags('contains', String.fromCharCode(...numbers(0xd800).slice(0x100, 0x9000))),
    onTags('contains', String.fromCharCode(...numbers(0xd800).slice(0x9000))),
  ],
  'dates and spans': [
    { field: 'at', operator: 'in', value: numbers(30_000) },
    ...repeat(49, (n) => ({ field: 'at', operator: 'within_last', value: `${n + 1}d` })),
  ],
  'patterns with parts of texts': [
    ...repeat(9, (n) => onTags('matches', `${n}`)),
    ...repeat(4, (n) => onTags('contains', `${n}`)),
    onTags('equals', 5),
  ],
  'values of many paths of one object': repeat(50, (n) => ({
    field: `a.b${n}`,
    operator: 'in',
    value: numbers(500),
  })),
}

function rule(conditions: Conditions, title = 'Call'): CheckedRule {
  return {
    name: 'A rule',
    trigger: 'LEAD_CREATED',
    conditions,
    actions: [{ type: 'CREATE_TASK', config: { title } }],
  }
}

/** CPU time, because other tests run beside this one. */
function measure(rules: CheckedRule[], budget?: WorkBudget) {
  globalThis.gc?.()
  const [memory, cpu] = [process.memoryUsage.rss(), process.cpuUsage()]
  const result = checkRules(rules, { now, ...(budget && { budget }) })
  const { user, system } = process.cpuUsage(cpu)
  const grownMb = (process.memoryUsage.rss() - memory) / mb
  return { ...result, cpuMs: (user + system) / 1_000, grownMb }
}

for (const [title, conditions] of Object.entries(hostile))
  t.test(`costs little, and says what is not known: ${title}`, async (t) => {
    const budget = new WorkBudget({ units: 20_000_000, ms: 1_000 }, () => performance.now())
    const { cpuMs, grownMb, notKnown } = measure([rule(conditions)], budget)
    t.ok(cpuMs < 1_500, `${cpuMs} ms`)
    t.ok(grownMb < 100, `${grownMb} MB`)
    const alone = measure([rule(conditions)])
    t.ok(alone.cpuMs < 5_000, `${alone.cpuMs} ms without a limit`)
    t.comment(`${cpuMs} and ${alone.cpuMs} ms, ${grownMb} MB, ${notKnown.length} not known`)
  })

t.test('300 rules with 50 fields each are checked in part', async (t) => {
  const rules = Array.from({ length: 300 }, (_, n) =>
    rule(repeat(50, (m) => ({ field: `f${n}x${m}`, operator: 'equals', value: m }))),
  )
  const budget = new WorkBudget({ units: 20_000_000, ms: 1_000 }, () => performance.now())
  const { cpuMs, notKnown, findings } = measure(rules, budget)
  t.ok(cpuMs < 1_500, `${cpuMs} ms`)
  t.ok(findings.length + notKnown.length > 0)
  t.comment(`${cpuMs} ms, ${findings.length} findings, ${notKnown.length} not known`)
})

t.test('a witness shows the beginning of a long text, and so does a message', async (t) => {
  const value = 'y'.repeat(240_000)
  const rules = Array.from({ length: 64 }, () =>
    rule([{ field: 'a', operator: 'equals', value }], 'z'.repeat(400)),
  )
  const { findings } = measure(rules)
  t.ok(findings.length > 0)
  for (const { message, witness } of findings.slice(0, 3)) {
    t.strictSame(witness?.data, { a: `${value.slice(0, 1_000)}…` })
    t.ok(message.length < 300)
  }
})
