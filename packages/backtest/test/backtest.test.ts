import { Domain, Random, randomRules } from '@automation/check/corpus'
import { compileRule, planEvent } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { BusiestMinute } from '../src/busiest-minute.js'
import { Backtest, type BacktestSubject, maxReportBytes, type TestedEvent } from '../src/index.js'
import { reportNaively } from './fixtures/oracle.js'

const from = Date.parse('2026-03-01T00:00:00.000Z')
const to = Date.parse('2026-03-08T00:00:00.000Z')
const ruleId = '0198c8a0-0000-7000-8000-000000000001'
const otherId = '0198c8a0-0000-7000-8000-000000000002'
const { TEST_LONG, TEST_LARGE } = process.env
const runs = TEST_LARGE ? 10_000 : TEST_LONG ? 300 : 150

t.test(
  'a backtest reports what lists of all events say, however often it is saved and restored',
  async (t) => {
    const seen = { added: 0, removed: 0, aloneFailed: 0, done: 0, faulty: 0, skipped: 0 }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
        const { subject, events } = anyCase(new Random(seed))
        const whole = new Backtest(subject)
        let sliced = new Backtest(subject)
        const random = new Random(seed + 1)
        for (const event of events) {
          whole.pass(1)
          whole.add(event)
          sliced.pass(1)
          sliced.add(event)
          if (random.chance(0.2)) sliced = new Backtest(subject, JSON.parse(JSON.stringify(sliced.save())))
        }
        const report = whole.report({ isComplete: true })
        const text = JSON.stringify(report)
        if (text !== JSON.stringify(sliced.report({ isComplete: true }))) throw new Error('slices differ')
        const expected = reportNaively(subject, events)
        const found = {
          considered: report.considered,
          active: report.active?.matched ?? null,
          draft: report.draft?.matched ?? null,
          difference: report.difference,
          actionDifference:
            report.actionDifference
              ?.map(({ isTargetsEstimated: _, ...counts }) => counts)
              .sort((one, other) => (one.type < other.type ? -1 : 1)) ?? null,
          overTime: report.overTime.reduce((sum, bucket) => sum + bucket.active + bucket.draft, 0),
          clauses: report.clauses,
          actions: report.actions.map(({ done, skipped, faulty, targets, mostToOne, busiestMinute }) => ({
            done,
            skipped,
            faulty,
            targets,
            mostToOne,
            busiestCount: busiestMinute?.count ?? 0,
          })),
          examples: report.examples,
        }
        if (JSON.stringify(found) !== JSON.stringify(expected))
          throw new Error(
            `${JSON.stringify(found)}\n${JSON.stringify(expected)}\n${JSON.stringify(subject, null, 1)}`,
          )
        seen.added += report.difference?.added ?? 0
        seen.removed += report.difference?.removed ?? 0
        for (const clause of report.clauses) seen.aloneFailed += clause.aloneFailed
        for (const kind of ['done', 'faulty', 'skipped'] as const)
          for (const action of report.actions) seen[kind] += action[kind]
      }),
      { numRuns: runs },
    )
    t.comment(JSON.stringify(seen))
    for (const [kind, count] of Object.entries(seen)) t.ok(count > 0, `${kind} occurs`)
  },
)

function anyCase(random: Random): { subject: BacktestSubject; events: TestedEvent[] } {
  const rules = [...randomRules(random), ...randomRules(random)]
  const [one, other] = [rules[0], rules.at(-1)] as [(typeof rules)[0], (typeof rules)[0]]
  const hasActive = random.chance(0.8)
  const hasDraft = !hasActive || random.chance(0.8)
  const domain = new Domain([one, other], from)
  const events = Array.from({ length: random.below(60) }, (_, index) => ({
    id: `0198c8a0-0000-7000-8000-${String(index).padStart(12, '0')}`,
    type: random.pick(['LEAD_CREATED', 'LEAD_UPDATED', 'DEAL_WON']),
    acceptedAt: from + index * 20_000 + random.below(30_000),
    addressedTo: random.chance(0.9) ? null : random.pick([ruleId, otherId]),
    data: domain.event(random),
  }))
  return {
    subject: {
      ruleId,
      ...(hasActive && { active: { version: 3, definition: one } }),
      ...(hasDraft && { draft: other }),
      from,
      to,
    },
    events,
  }
}

const mail = {
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'scor', operator: 'greater_than', value: 80 }],
  actions: [{ type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'x', template: 'x' } }],
} as BacktestSubject['draft'] & object

function eventOf(index: number, data: object): TestedEvent {
  return { id: ruleId, type: 'LEAD_CREATED', acceptedAt: from + index * 1_000, addressedTo: null, data }
}

t.test(
  'actions that the draft shares with the active version are the same, and the others differ',
  async (t) => {
    const rule = (...to: string[]) => ({
      ...mail,
      conditions: [],
      actions: to.map((one) => ({ ...mail.actions[0], config: { to: one, subject: 'x', template: 'x' } })),
    })
    const active = { version: 1, definition: rule('{{email}}', 'boss@mail.example') as never }
    const subject = {
      active,
      draft: rule('{{email}}', 'new-{{email}}', 'other@mail.example') as never,
      from,
      to,
    }
    const backtest = new Backtest(subject)
    for (let index = 0; index < 10; index++) backtest.add(eventOf(index, { email: `p${index}@mail.example` }))
    const { actionDifference, actions } = backtest.report({ isComplete: true })
    const counts = {
      type: 'SEND_EMAIL',
      same: 10,
      added: 20,
      removed: 10,
      targets: 11,
      isTargetsEstimated: false,
    }
    t.strictSame(actionDifference, [counts])
    t.match(actions, [{ done: 10 }, { done: 10 }, { done: 10 }])
  },
)

t.test('an action with forEach counts as many times as it emits an event', async (t) => {
  const each = (forEach: string) =>
    ({
      ...mail,
      conditions: [],
      actions: [
        { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', forEach, data: { a: '{{item.a}}' } } },
      ],
    }) as never
  const backtest = new Backtest({
    active: { version: 1, definition: each('few') },
    draft: each('many'),
    from,
    to,
  })
  for (let index = 0; index < 10; index++)
    backtest.add(eventOf(index, { few: [{}, {}], many: Array.from({ length: index }, () => ({})) }))
  const { actions, actionDifference } = backtest.report({ isComplete: true })
  t.match(actions, [{ done: 45, faulty: 0, busiestMinute: { count: 45 }, fields: undefined }])
  // Of 20 events that were emitted, 17 still are.
  t.match(actionDifference, [{ type: 'EMIT_EVENT', same: 17, added: 28, removed: 3 }])
})

t.test('what depends on a response is not known, and counts nowhere else', async (t) => {
  const when = { field: 'actions.ticket.outcome', operator: 'equals', value: 'failed' }
  const call = {
    name: 'ticket',
    type: 'SEND_WEBHOOK',
    config: { url: 'https://x.io', capture: { id: 'body.id' } },
  }
  const task = (title: string, more: object = {}) => ({ type: 'CREATE_TASK', config: { title }, ...more })
  const actions = [call, task('{{captured.id}}'), task('otherwise', { when }), task('always')]
  const definition = { trigger: 'LEAD_CREATED', conditions: [], actions } as never
  const backtest = new Backtest({ active: { version: 1, definition }, draft: definition, from, to })
  for (let index = 0; index < 3; index++) backtest.add(eventOf(index, { captured: { id: 'of the event' } }))
  const { actions: report, actionDifference, notKnown, fields } = backtest.report({ isComplete: true })
  t.match(report, [
    { done: 3, notKnown: 0 },
    { done: 0, skipped: 0, faulty: 0, notKnown: 3, faults: { length: 0 }, warnings: { length: 0 } },
    { done: 0, skipped: 0, faulty: 0, notKnown: 3 },
    { done: 3, notKnown: 0 },
  ])
  t.match(
    actionDifference?.find(({ type }) => type === 'CREATE_TASK'),
    { same: 3, added: 0, removed: 0 },
  )
  t.strictSame(notKnown, [
    'actions[0]: whether the call succeeds. A failure would skip the actions after it.',
    'actions[1]: what it does. It reads the result of an earlier action.',
    'actions[2]: what it does. It reads the result of an earlier action.',
  ])
  t.strictSame(fields, [])
})

t.test('an event that the rules before it have used up is not evaluated, as at a worker', async (t) => {
  const limits = { rule: 4_000, event: 9_000 }
  const contains = (field: string) => ({ field, operator: 'contains' as const, value: 'x' })
  const earlier = [
    { trigger: 'LEAD_CREATED', conditions: [contains('text')] },
    {
      trigger: 'LEAD_CREATED',
      conditions: [contains('text'), { field: 'kind', operator: 'equals' as const, value: 'a' }],
    },
    { trigger: 'DEAL_WON', conditions: [contains('text'), contains('text')] },
    { trigger: 'LEAD_CREATED', conditions: [{ not: contains('text') }] },
  ]
  const draft = {
    ...mail,
    conditions: [contains('text'), { field: 'score', operator: 'gt' as const, value: 5 }],
  }
  const mine = earlier.filter(({ trigger }) => trigger === 'LEAD_CREATED')
  const compiled = [...mine, draft].map((rule) => {
    return { group: null, order: null, compiled: compileRule({ actions: [], ...rule }) }
  })
  const backtest = new Backtest({ ruleId, draft, earlier, from, to }, undefined, limits)
  const alone = new Backtest({ ruleId, draft, from, to }, undefined, limits)
  const random = new Random(7)
  const seen = { matched: 0, not_matched: 0, not_judged: 0, differs: 0 }
  for (let index = 0; index < 2_000; index++) {
    const text = `${'x'.repeat(random.below(2))}${'y'.repeat(random.below(40_000))}`
    const event = eventOf(index, { text, kind: random.pick(['a', 'b']), score: random.below(10) })
    const size = random.chance(0.5) ? { size: JSON.stringify(event.data).length } : {}
    const verdict = backtest.add({ ...event, ...size }).draft ?? 'matched'
    const plan = [...planEvent(compiled, event.data, event.acceptedAt, limits)].at(-1)
    const expected = plan?.fault ? 'not_judged' : plan?.conditionsPassed ? 'matched' : 'not_matched'
    if (verdict !== expected) t.equal(verdict, expected, `${text.length}`)
    seen[verdict as keyof typeof seen]++
    if (alone.add(event).draft !== verdict) seen.differs++
  }
  t.comment(JSON.stringify(seen))
  for (const [kind, count] of Object.entries(seen)) t.ok(count > 0, `${kind} occurs`)
  const addressed = { ...eventOf(1, { text: 'x'.repeat(30_000), score: 9 }), addressedTo: ruleId }
  t.match(backtest.add(addressed), { draft: 'matched' }, 'an event for the rule alone has its work to itself')
})

t.test('a field that no event has comes with the nearest one that events have', async (t) => {
  const backtest = new Backtest({ draft: mail, from, to })
  for (let index = 0; index < 10; index++) backtest.add(eventOf(index, { score: 90, email: 'a@b.example' }))
  t.match(backtest.report({ isComplete: true }).fields, [
    { path: 'scor', present: 0, didYouMean: 'score' },
    { path: 'email', present: 10, didYouMean: null },
  ])
})

t.test(
  'what conditions on items read of the event is a field of the report, and the fields of items are not',
  async (t) => {
    const above = (root: string) => ({ field: 'price', operator: 'greater_than', value: { root } })
    const config = {
      eventType: 'TAG_ADDED',
      forEach: 'items',
      where: [above('floor')],
      data: { of: '{{item.price}}' },
    }
    const actions = [{ type: 'EMIT_EVENT', config }]
    const draft = { trigger: 'LEAD_CREATED', conditions: [{ some: 'items', that: [above('limt')] }], actions }
    const backtest = new Backtest({ draft: draft as never, from, to })
    backtest.add(eventOf(1, { items: [{ price: 3 }], limit: 2, floor: 1 }))
    t.strictSame(backtest.report({ isComplete: true }).fields, [
      { path: 'items', present: 1, didYouMean: null },
      { path: 'limt', present: 0, didYouMean: 'limit' },
      { path: 'floor', present: 1, didYouMean: null },
    ])
  },
)

t.test('beyond 2,048 targets their number is estimated within 10 % and the state stays small', async (t) => {
  const backtest = new Backtest({ draft: { ...mail, conditions: [] }, from, to })
  const distinct = 50_000
  for (let index = 0; index < distinct; index++) {
    backtest.add(eventOf(index, { email: `person-${index}@mail.example` }))
    if (index % 10 === 0) backtest.add(eventOf(index, { email: 'Often@mail.example' }))
  }
  const [action] = backtest.report({ isComplete: true }).actions
  t.ok(action?.isTargetsEstimated)
  t.ok(Math.abs((action?.targets ?? 0) / distinct - 1) < 0.1, `${action?.targets} of ${distinct}`)
  t.ok((action?.mostToOne ?? 0) > 3_000 && (action?.mostToOne ?? 0) <= 5_000, `${action?.mostToOne} of 5000`)
  t.equal(action?.busiestMinute?.count, 66)
  t.ok(JSON.stringify(backtest.save()).length < 100_000)
})

t.test('a report has at most 64 KiB, and its figures stay', async (t) => {
  const path = (index: number) => `${'ü'.repeat(150)}${index}`
  const conditions = Array.from({ length: 50 }, (_, index) => ({ field: path(index), operator: 'exists' }))
  const text = Array.from({ length: 20 }, (_, index) => `{{${path(index)}}}`).join(' ')
  const actions = Array.from({ length: 20 }, () => ({ type: 'CREATE_TASK', config: { title: text } }))
  const draft = { trigger: 'LEAD_CREATED', conditions: [{ not: { all: conditions } }], actions } as never
  const backtest = new Backtest({ draft, from, to: from + 200 * 86_400_000 })
  for (let index = 0; index < 100; index++) backtest.add(eventOf(index, {}))
  const report = backtest.report({ isComplete: true })
  t.ok(Buffer.byteLength(JSON.stringify(report)) <= maxReportBytes)
  t.equal(report.draft?.matched, 100)
  t.ok(report.overTime.length <= 200)
})

t.test('a range that grew gets wider buckets, and loses no match', async (t) => {
  const draft = { ...mail, conditions: [] }
  const first = new Backtest({ draft, from, to: from + 3_600_000 })
  for (let index = 0; index < 100; index++) first.add(eventOf(index * 30, { email: 'a@b.example' }))
  const second = new Backtest({ draft, from, to }, first.save())
  const { overTime, bucketMs } = second.report({ isComplete: false })
  t.equal(bucketMs, 3_600_000)
  t.equal(overTime[0]?.draft, 100)
  t.equal(overTime.length, 168)
})

t.test('the buckets of a range of any length reach its end', async (t) => {
  for (const begin of ['1970-01-01', '0001-01-01', '2026-03-07']) {
    const subject = {
      draft: { trigger: 'LEAD_CREATED', conditions: [], actions: [] },
      from: Date.parse(begin),
      to,
    }
    const backtest = new Backtest(subject)
    backtest.add({ id: otherId, type: 'LEAD_CREATED', acceptedAt: to - 1, addressedTo: null, data: {} })
    const { overTime, bucketMs } = backtest.report({ isComplete: true })
    t.ok(
      overTime.length <= 200 && overTime.length > 50,
      `${begin}: ${overTime.length} buckets of ${bucketMs} ms`,
    )
    t.equal(overTime.at(-1)?.draft, 1)
  }
})

t.test(
  'a rule of a group would have run where it is the first of those that matched at that time',
  async (t) => {
    const teams = ['a', 'b', 'c']
    const random = new Random(11)
    const seen: Record<string, number> = {}
    for (let round = 0; round < 40; round++) {
      const versions = Array.from({ length: 6 }, (_, index) => {
        const from = random.below(4)
        return {
          ruleId: `0198c8a0-0000-7000-8000-00000000000${index + 3}`,
          name: `Rule ${index}`,
          trigger: 'LEAD_CREATED',
          group: random.pick(['routing', 'other']),
          order: random.below(3),
          conditions: [equals(random.pick(teams))],
          from,
          until: random.chance(0.5) ? null : from + 1 + random.below(2),
        }
      })
      const tested = () => ({
        trigger: 'LEAD_CREATED',
        ...random.pick([
          { group: null, order: null },
          { group: 'routing', order: random.below(3) },
          { group: 'other', order: random.below(3) },
        ]),
        conditions: [{ ...equals(''), operator: 'in', value: random.some(teams) }],
        actions: [],
      })
      const [active, draft] = [tested(), tested()]
      const subject = {
        ruleId,
        active: { version: 1, definition: active },
        draft,
        members: versions,
        from,
        to,
      }
      const backtest = new Backtest(subject)
      const moves = new Map<string, { gained: number; lost: number }>()
      for (let index = 0; index < 40; index++) {
        const rulesVersion = random.below(5)
        const event = { ...eventOf(index, { team: random.pick(teams) }), rulesVersion }
        const others = versions.filter((one) => one.from <= rulesVersion && (one.until ?? 9) > rulesVersion)
        const runs = [active, draft].map((definition) => {
          const all = [{ ...definition, ruleId }, ...others]
          const plans = planEvent(all.map(planned), event.data, event.acceptedAt)
          return Array.from(plans, ({ conditionsPassed, outrankedBy }, place) => {
            const verdict =
              outrankedBy !== undefined ? 'outranked' : conditionsPassed ? 'matched' : 'not_matched'
            return { ruleId: all[place]?.ruleId ?? '', verdict }
          })
        })
        const [byActive = [], byDraft = []] = runs
        const verdicts = backtest.add(event)
        t.strictSame(verdicts, { active: byActive[0]?.verdict, draft: byDraft[0]?.verdict })
        for (const [place, { ruleId: id, verdict }] of byDraft.entries()) {
          if (place === 0) continue
          const before = byActive[place]?.verdict
          const counts = moves.get(id) ?? { gained: 0, lost: 0 }
          if (verdict === 'matched' && before !== 'matched') counts.gained++
          if (verdict !== 'matched' && before === 'matched') counts.lost++
          if (counts.gained + counts.lost > 0) moves.set(id, counts)
        }
        seen[verdicts.draft ?? ''] = (seen[verdicts.draft ?? ''] ?? 0) + 1
      }
      const saved = new Backtest(subject, structuredClone(backtest.save()))
      const report = saved.report({ isComplete: true })
      t.strictSame(
        Object.fromEntries(report.moves.map(({ ruleId: id, gained, lost }) => [id, { gained, lost }])),
        Object.fromEntries(moves),
      )
    }
    for (const verdict of ['matched', 'outranked', 'not_matched']) t.ok(seen[verdict], `${verdict} occurs`)
  },
)

const equals = (value: string) => ({ field: 'team', operator: 'equals', value })

function planned({
  group,
  order,
  conditions,
}: {
  group: string | null
  order: number | null
  conditions: object[]
}) {
  return { group, order, compiled: compileRule({ conditions, actions: [] } as never) }
}

t.test('of minutes that are as busy as one another the earliest is named', async (t) => {
  const minutes = new BusiestMinute()
  for (const minute of [5, 7, 7, 5, 2, 2, 9]) minutes.add(minute * 60_000 + 1)
  t.strictSame(minutes.find(), { at: '1970-01-01T00:02:00.000Z', count: 2, isAtLeast: false })
})
