import t from 'tap'
import { Backtest, type BacktestSubject } from '../src/index.js'

const [from, to] = [Date.UTC(2026, 2, 28), Date.UTC(2026, 2, 31)]
const hourly = {
  trigger: 'SCHEDULE',
  schedule: { every: '1h' },
  conditions: [],
  actions: [{ type: 'CREATE_TASK' as const, config: { title: '{{localTime}}' } }],
}
const daily = { ...hourly, schedule: { cron: '0 9 * * *', timezone: 'Europe/Berlin' } }
const ruleId = '01970000-0000-7000-8000-000000000001'

/** Stored ticks of the rule, one an hour. */
function addStored(backtest: Backtest): void {
  for (let at = from; at < to; at += 3_600_000)
    backtest.add({
      id: `stored-${at}`,
      type: 'SCHEDULE',
      acceptedAt: at + 500,
      addressedTo: ruleId,
      isTick: true,
      data: { missed: 0 },
    })
}

function report(subject: Omit<BacktestSubject, 'from' | 'to'>) {
  const ranged = { ...subject, from, to }
  let backtest = new Backtest(ranged)
  addStored(backtest)
  for (const until of [Date.UTC(2026, 2, 29), to])
    while (backtest.addTick(from, until))
      backtest = new Backtest(ranged, JSON.parse(JSON.stringify(backtest.save())))
  return backtest.report({ isComplete: true })
}

t.test('a new schedule has the ticks that it would have had', async (t) => {
  const { draft, considered, active } = report({ draft: daily })
  t.match(draft, { matched: 3 })
  t.equal(active, null)
  t.equal(considered, 3, 'ticks of another rule are none of its own')
})

t.test('a changed schedule is compared with the ticks that are stored', async (t) => {
  const found = report({ ruleId, active: { version: 1, definition: hourly }, draft: daily })
  t.match(found, {
    active: { matched: 72 },
    draft: { matched: 3 },
    difference: { same: 0, added: 3, removed: 72 },
  })
  t.strictSame(found.examples.added, [], 'no event has been')
  t.equal(found.actions[0]?.done, 3)
})

t.test('the same schedule has the ticks that are stored', async (t) => {
  const draft = { ...hourly, actions: [...hourly.actions, ...hourly.actions] }
  const found = report({ ruleId, active: { version: 1, definition: hourly }, draft })
  t.match(found, {
    active: { matched: 72 },
    draft: { matched: 72 },
    difference: { same: 72, added: 0, removed: 0 },
  })
})

t.test('an execution by hand is no tick: both definitions have it, and neither asks its key', async (t) => {
  const perKey = { key: 'one', atMost: { runs: 1, per: '30d' } } as const
  const active = { version: 1, definition: { ...hourly, perKey } }
  const backtest = new Backtest({ ruleId, active, draft: { ...daily, perKey }, from, to })
  for (const at of [from, from + 1, from + 2])
    backtest.add({ id: `by-hand-${at}`, type: 'SCHEDULE', acceptedAt: at, addressedTo: ruleId, data: {} })
  backtest.finish()
  const { considered, ...found } = backtest.report({ isComplete: true })
  t.equal(considered, 3)
  t.match(found, { active: { matched: 3, suppressed: 0 }, draft: { matched: 3, suppressed: 0 } })
})
