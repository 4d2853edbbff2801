import t from 'tap'
import { dayMs } from '../src/index.js'
import { eventHistory, type History, taskHistory } from '../src/leaves/histories.js'
import { type Leaf, leafNameOf, leavesOf, planExchange, weekMs } from '../src/leaves/plan-exchange.js'

const edge = Date.parse('2026-01-05T00:00:00Z')
const installed = Date.parse('2026-11-30T09:00:00Z')
const monday = Date.parse('2026-12-07T00:00:00Z')
const low: Leaf = { from: Number.NEGATIVE_INFINITY, to: edge }
const high: Leaf = { from: edge, to: Number.POSITIVE_INFINITY }

/** Does all that is planned at a moment. */
function settle(
  leaves: Leaf[],
  now: number,
  days: number,
  history: Pick<History, 'weeks' | 'ahead'> = eventHistory,
): Leaf[] {
  let present = leaves
  for (let steps = 0; steps < 20; steps++) {
    const plan = planExchange(present, history, { now, days })
    if (plan === undefined) return present
    const rest = present.filter(({ from, to }) => to <= plan.from || from >= plan.to)
    if (plan.removes) t.ok(plan.to <= now - days * dayMs, 'nothing goes before its time')
    present = [...rest, ...leavesOf(plan)].sort((one, other) => one.from - other.from)
  }
  return t.fail('it does not come to an end') as unknown as Leaf[]
}

function datesOf(leaves: Leaf[]): string[] {
  return leaves.map((leaf) => leafNameOf('events', leaf))
}

t.test('a new database gets the present week and four ahead, out of the high edge', async (t) => {
  t.strictSame(datesOf(settle([low, high], installed, 30)), [
    'events_low',
    'events_20260105',
    ...['events_20261130', 'events_20261207', 'events_20261214', 'events_20261221', 'events_20261228'],
    'events_high',
  ])
  t.strictSame(datesOf(settle([low, high], installed, 400, taskHistory)), [
    'events_low',
    'events_20260105',
    ...['events_20261026', 'events_20270125'],
    'events_high',
  ])
})

t.test('weeks follow one another, and a gap without a worker is one leaf', async (t) => {
  const present = settle([low, high], installed, 0)
  t.equal(settle(present, monday - 1, 0).length, present.length)
  t.equal(settle(present, monday, 0).length, present.length + 1)
  t.strictSame(datesOf(settle(present, installed + 8 * weekMs, 0)).slice(2), [
    ...['events_20261130', 'events_20261207', 'events_20261214', 'events_20261221', 'events_20261228'],
    ...[
      'events_20270104',
      'events_20270125',
      'events_20270201',
      'events_20270208',
      'events_20270215',
      'events_20270222',
    ],
    'events_high',
  ])
})

t.test('a week goes into the low edge when its end is older than the days that are kept', async (t) => {
  const present = settle([low, high], installed, 30)
  const end = Date.parse('2026-12-07T00:00:00Z') + 30 * dayMs + 60 * 60 * 1_000
  t.ok(datesOf(settle(present, end - 1, 30)).includes('events_20261130'))
  t.notOk(datesOf(settle(present, end, 30)).includes('events_20261130'))
  t.ok(datesOf(settle(present, end + 99 * weekMs, 0)).includes('events_20260105'), '0 keeps all')
})

for (const [days, most] of [
  [1, 12],
  [30, 12],
  [90, 40],
  [181, 40],
  [365, 40],
  [1_400, 40],
  [3_650, 40],
  [0, 40],
] as const)
  t.test(`plans see at most ${most} leaves where ${days || 'all'} days are kept`, async (t) => {
    let leaves = settle([low, high], installed, days)
    let longest = 0
    const end = installed + 12 * 52 * weekMs
    for (let now = installed; now < end; now += 1.5 * dayMs) {
      leaves = settle(leaves, now, days)
      longest = Math.max(longest, leaves.length)
      const gaps = leaves.slice(1).filter(({ from }, index) => from !== leaves[index]?.to)
      if (gaps.length > 0) return t.fail('there is a gap')
    }
    t.ok(longest <= most, `${longest}`)
    t.ok(longest > 7)
  })
