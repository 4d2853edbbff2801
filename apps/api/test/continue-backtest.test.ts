import { newId } from '@automation/database'
import { defaultWorkLimits } from '@automation/engine'
import t from 'tap'
import { continueBacktest, reportBacktest, type ToContinue } from '../src/evaluation/continue-backtest.js'

const draft = {
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'text', operator: 'contains', value: 'x' }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
} as NonNullable<ToContinue['subject']['draft']>
const subject = { draft, from: 0, to: 8_000_000_000_000 }
const limits = defaultWorkLimits
/** To evaluate it takes two times 0.12 units a character: its conditions, and its clauses. */
const eventsOf = (count: number, characters: number) =>
  Array.from({ length: count }, () => ({
    ...{ id: newId(), type: 'LEAD_CREATED', addressedTo: null, acceptedAt: Date.now() },
    json: JSON.stringify({ text: 'y'.repeat(characters) }),
  }))
const within = (units: number, ms = Number.POSITIVE_INFINITY) => ({ bounds: { units, ms } })

t.test(
  'a turn ends at half of the work of a question, and the turns together add each event once',
  async (t) => {
    const events = eventsOf(20, 10_000)
    let saved: ToContinue['saved']
    const turns: number[] = []
    for (let start = 0; start < events.length; start += turns.at(-1) as number) {
      const turn = continueBacktest({
        subject,
        saved,
        events: events.slice(start),
        limits,
        ...within(20_000),
      })
      if (!('saved' in turn)) throw new Error(JSON.stringify(turn))
      saved = turn.saved
      turns.push(turn.used)
    }
    t.strictSame(turns, [5, 5, 5, 5])
    const reported = reportBacktest({
      subject,
      saved,
      passed: 20,
      isComplete: true,
      limits,
      ...within(20_000),
    })
    t.match(reported, { report: { scanned: 20, considered: 20, draft: { matched: 0, notJudged: 0 } } })
  },
)

t.test('an event beyond the work of a question begins the next turn, or is not evaluated', async (t) => {
  const events = [...eventsOf(1, 10_000), ...eventsOf(1, 100_000), ...eventsOf(1, 10_000)]
  const first = continueBacktest({ subject, saved: undefined, events, limits, ...within(20_000) })
  t.match(first, { used: 1 })
  const second = continueBacktest({
    ...{ subject, saved: 'saved' in first ? first.saved : undefined, limits },
    ...{ events: events.slice(1), ...within(20_000) },
  })
  t.match(second, { used: 1, saved: { counts: { considered: 2, draftNotEvaluated: 1 } } })
})

t.test('a turn without time is refused, and counts nothing', async (t) => {
  const events = eventsOf(1, 2_000_000)
  const bounds = within(limits.event, -1)
  t.match(continueBacktest({ subject, saved: undefined, events, limits, ...bounds }), { overrun: 'ms' })
  const reported = reportBacktest({
    subject,
    saved: undefined,
    passed: 1,
    isComplete: true,
    limits,
    ...bounds,
  })
  t.match(reported, { overrun: 'ms' })
})
