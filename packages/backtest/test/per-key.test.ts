import { Random } from '@automation/check/corpus'
import type { PerKey } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { Backtest, type BacktestSubject, type EventVerdicts, type TestedDefinition } from '../src/index.js'
import { type KeyedEvent, limitNaively } from './fixtures/key-oracle.js'

const from = Date.parse('2026-03-01T00:00:00.000Z')
const to = from + 86_400_000
const { TEST_LONG, TEST_LARGE } = process.env
const runs = TEST_LARGE ? 5_000 : TEST_LONG ? 500 : 150

const limits: PerKey[] = [
  { atMost: { runs: 2, per: '5m' } },
  { atLeast: { events: 3, within: '4m' } },
  { atLeast: { events: 2, within: '10m' }, atMost: { runs: 1, per: '3m' } },
  { whileRunning: 'skip' },
  { whileRunning: 'replace' },
  { whileRunning: 'queue', atMost: { runs: 3, per: '10m' } },
  { atLeast: { events: 2, within: '5m' }, atMost: { runs: 2, per: '5m' }, whileRunning: 'skip' },
  { collect: { for: '4m' } },
  { collect: { for: '10m', quiet: '1m', max: 4 }, whileRunning: 'queue' },
]

function ruleOf(
  perKey: PerKey | undefined,
  actions: object[] = [{ type: 'CREATE_TASK', config: { title: 'x' } }],
) {
  return {
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'isMatching', operator: 'equals', value: true }],
    actions,
    ...(perKey && { perKey: { key: '{{key}}', ...perKey } }),
  } as TestedDefinition
}

const wait = { type: 'WAIT', config: { until: '{{until}}' } }
const count = (verdicts: Iterable<string>, word: string) => [...verdicts].filter((one) => one === word).length

t.test('what perKey grants in a backtest is what a list of all earlier events says', async (t) => {
  const seen = { matched: 0, suppressed: 0, replaced: 0, before: 0 }
  const property = fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
    const random = new Random(seed)
    const subject: BacktestSubject = {
      active: { version: 1, definition: ruleOf(random.pick(limits), [wait]) },
      draft: ruleOf(random.pick([...limits, undefined]), [wait]),
      from,
      to,
    }
    const events = drawEvents(random)
    const found = runBacktest(subject, events)
    const sliced = runBacktest(subject, events, () => random.chance(0.2))
    if (JSON.stringify(found.report) !== JSON.stringify(sliced.report)) throw new Error('slices differ')
    const ordered = events.toSorted(
      (one, other) => one.acceptedAt - other.acceptedAt || (one.id < other.id ? -1 : 1),
    )
    for (const side of ['active', 'draft'] as const) {
      const perKey = side === 'active' ? subject.active?.definition.perKey : subject.draft?.perKey
      const expected = limitNaively(perKey ?? {}, ordered)
      const wrong = events.find((event) => found.verdicts.get(event)?.[side] !== expected.verdicts.get(event))
      if (wrong)
        throw new Error(
          `${side} ${JSON.stringify(perKey)}: ${found.verdicts.get(wrong)?.[side]} at ${wrong.acceptedAt}`,
        )
      const inRange = events.flatMap((event) =>
        event.acceptedAt < from ? [] : (expected.verdicts.get(event) as string),
      )
      const replaced = expected.replacedBy.filter(({ at }) => at >= from).length
      const counts = {
        matched: count(inRange, 'matched'),
        suppressed: count(inRange, 'suppressed'),
        replaced,
      }
      for (const [kind, number] of Object.entries(counts)) {
        seen[kind as keyof typeof counts] += number
        const reported = found.report[side]?.[kind as keyof typeof counts]
        if (reported !== number)
          throw new Error(`${side} ${JSON.stringify(perKey)}: ${reported} ${kind}, not ${number}`)
      }
    }
    seen.before += events.filter(({ acceptedAt }) => acceptedAt < from).length
  })
  fc.assert(property, { numRuns: runs })
  t.comment(JSON.stringify(seen))
  for (const [kind, number] of Object.entries(seen)) t.ok(number > 0, `${kind} occurs`)
})

/** Some are accepted out of the order of their ids, several in a millisecond, and some before the range. */
function drawEvents(random: Random): KeyedEvent[] {
  let at = from - random.below(600_000)
  return Array.from({ length: random.below(80) }, (_, index) => {
    at += random.chance(0.2) ? 0 : random.below(90_000)
    const acceptedAt = Math.max(0, at - (random.chance(0.3) ? random.below(60_000) : 0))
    const moment = acceptedAt + random.below(200_000)
    const ended = random.pick([undefined, undefined, { after: moment }, { at: moment }])
    return {
      id: `0198c8a0-0000-7000-8000-${String(index).padStart(12, '0')}`,
      type: 'LEAD_CREATED',
      acceptedAt,
      addressedTo: null,
      ...(ended && { ended }),
      data: {
        key: random.below(3),
        until: new Date(acceptedAt + random.below(200_000) - 20_000).toISOString(),
        isMatching: random.chance(0.85),
      },
    }
  })
}

/** As a worker does: first the events before the range, then those of it, both in the order of their ids. */
function runBacktest(subject: BacktestSubject, events: KeyedEvent[], isSaved = () => false) {
  let backtest = new Backtest(subject)
  const verdicts = new Map<KeyedEvent, EventVerdicts>()
  const isBefore = ({ acceptedAt }: KeyedEvent) => acceptedAt < from
  const isInRange = (event: KeyedEvent) => !isBefore(event)
  const add = (event: KeyedEvent) => {
    verdicts.set(event, backtest.add(event))
    if (isSaved()) backtest = new Backtest(subject, JSON.parse(JSON.stringify(backtest.save())))
  }
  for (const event of events.filter(isBefore)) add(event)
  backtest.passWarmUp(undefined)
  for (const event of events.filter(isInRange)) add(event)
  backtest.finish()
  return { verdicts, report: backtest.report({ isComplete: true }) }
}

const minute = (count: number, data: object = {}): KeyedEvent => ({
  id: `0198c8a0-0000-7000-8000-${String(count + 1_000).padStart(12, '0')}`,
  type: 'LEAD_CREATED',
  acceptedAt: from + count * 60_000,
  addressedTo: null,
  data: { key: 1, until: '', isMatching: true, ...data },
})

t.test('suppressed events do nothing, are no near misses, and the report says what it assumes', async (t) => {
  const draft = ruleOf({ atMost: { runs: 1, per: '1h' } })
  const { report } = runBacktest({ active: { version: 1, definition: ruleOf(undefined) }, draft, from, to }, [
    minute(0),
    minute(1),
    minute(2, { isMatching: false }),
    minute(60),
  ])
  t.match(report, {
    considered: 4,
    active: { matched: 3, suppressed: 0, replaced: 0 },
    draft: { matched: 2, suppressed: 1 },
    difference: { same: 2, added: 0, removed: 1 },
    actions: [{ done: 2 }],
    clauses: [{ held: 3, aloneFailed: 1 }],
    examples: { removed: [minute(1).id], nearMisses: [minute(2).id] },
    notes: [/^`perKey` is simulated for the events since 2026-02-28T23:00:00\.000Z, in the order/],
  })
  t.equal(report.notes.length, 1)
})

t.test('what came before the range counts for keys alone', async (t) => {
  const draft = ruleOf({ atMost: { runs: 1, per: '1h' } })
  const { report } = runBacktest({ draft, from, to }, [minute(-30), minute(-20), minute(10), minute(30)])
  t.match(report, { considered: 2, draft: { matched: 1, suppressed: 1 }, actions: [{ done: 1 }] })
  t.match(new Backtest({ draft, from, to }).warmUp, { from: from - 3_600_000, to: from, after: null })
  const yearly = ruleOf({ atMost: { runs: 1, per: '365d' } })
  const backtest = new Backtest({ draft: yearly, from, to })
  t.match(backtest.warmUp, { from: from - 31 * 86_400_000 })
  t.match(backtest.report({ isComplete: true }).notes, [/^`perKey`/, /longer than the 31 days/])
  t.equal(new Backtest({ draft: ruleOf(undefined), from, to }).warmUp, undefined)
})

t.test('an execution by hand asks for nothing and leaves no trace', async (t) => {
  const ruleId = '0198c8a0-0000-7000-8000-000000000001'
  const draft = ruleOf({ atMost: { runs: 1, per: '1h' } })
  const byHand = (count: number) => ({ ...minute(count), addressedTo: ruleId })
  const { report } = runBacktest({ ruleId, draft, from, to }, [byHand(0), minute(1), byHand(2), minute(3)])
  t.match(report.draft, { matched: 3, suppressed: 1 })
})

t.test(
  'what nobody can know of a key is not counted: after a WAIT that is replaced, and what reads a batch',
  async (t) => {
    const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
    const replacing = ruleOf({ whileRunning: 'replace' }, [
      { type: 'WAIT', config: { duration: '5m' } },
      task('x'),
    ])
    const debounced = runBacktest({ draft: replacing, from, to }, [minute(0), minute(1), minute(2)]).report
    t.match(debounced, {
      draft: { matched: 3, replaced: 2 },
      actions: [{ done: 3 }, { done: 0, notKnown: 3 }],
      notKnown: [/^actions\[0\]: which executions a newer one of their key replaces/],
    })
    const digest = ruleOf({ collect: { for: '1h' } }, [task('{{key}}'), task('{{collected.count}}')])
    const collected = runBacktest({ draft: digest, from, to }, [minute(0), minute(1), minute(60)]).report
    t.match(collected, {
      draft: { matched: 2, suppressed: 1 },
      actions: [{ done: 2 }, { done: 0, notKnown: 2 }],
      notKnown: [/^actions\[1\]: what it does\. It reads its batch/],
    })
  },
)

t.test('a key that cannot be rendered is no match, and no other key', async (t) => {
  const long = ruleOf({ key: '{{text}}{{text}}', atMost: { runs: 1, per: '1h' } })
  const text = 'x'.repeat(600_000)
  const { report } = runBacktest({ draft: long, from, to }, [minute(0, { text }), minute(1)])
  t.match(report.draft, { matched: 1, suppressed: 0, notJudged: 1 })
})

t.test('with more keys than can be remembered, the oldest begin again, and the report says so', async (t) => {
  const draft = ruleOf({ atMost: { runs: 1, per: '1d' } })
  const backtest = new Backtest({ draft, from, to })
  for (let index = 0; index <= 10_100; index++) {
    const event = { ...minute(index), acceptedAt: from + index }
    backtest.add({ ...event, data: { ...event.data, key: index } })
  }
  backtest.finish()
  t.match(backtest.report({ isComplete: true }).notes, [/^`perKey`/, /^More than 20,000 keys.*101 times/])
  t.ok(JSON.stringify(backtest.save()).length < 1_000_000)
})

t.test('an event far out of order is taken up later, and the report says so', async (t) => {
  const draft = ruleOf({ whileRunning: 'skip' })
  const backtest = new Backtest({ draft, from, to })
  for (let index = 1; index <= 150; index++) backtest.add(minute(index))
  const late = { ...minute(0), id: minute(151).id }
  const verdicts = backtest.add(late)
  backtest.finish()
  t.match(backtest.report({ isComplete: true }).notes, [/^`perKey`/, /^With `whileRunning`/, /^1 events? /])
  t.equal(verdicts.draft, 'suppressed', 'it meets what was granted before it')
})
