import { Backtest, type BacktestSubject } from '@automation/backtest'
import { defaultWorkLimits } from '@automation/engine'
import { claimBacktest, createBacktest, findBacktest } from '@automation/rules'
import t from 'tap'
import { computeSlice } from '../src/backtests/compute-slice.js'
import { createHarness } from './fixtures/harness.js'

const hourMs = 3_600_000
const to = Math.floor(Date.now() / hourMs) * hourMs - hourMs
/** Two days of warm-up, and one of the range. */
const subject: BacktestSubject = {
  draft: {
    trigger: 'SCHEDULE',
    schedule: { every: '1h' },
    perKey: { atMost: { runs: 3, per: '48h' } },
    conditions: [],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Task' } }],
  },
  from: to - 24 * hourMs,
  to,
}

t.test('a slice that is over ends after a tick, also in the warm-up, and the next one goes on', async (t) => {
  const { database, own, workspaceId } = await createHarness(t)
  const administrator = { database, workspaceId, actor: 'user:tests' }
  const { id } = await createBacktest(administrator, { subject, historyFrom: null, pace: 'full' })
  const limits = { workLimits: defaultWorkLimits, retentionDays: 0 }
  let slices = 0
  let stored = await findBacktest(own, id)
  for (; stored?.status !== 'done'; slices++) {
    const claimed = await claimBacktest(database)
    if (claimed?.id !== id) throw new Error(`${claimed?.id} was claimed`)
    t.ok(await computeSlice(database, claimed, limits, { isStopping: () => true }))
    stored = await findBacktest(own, id)
  }
  t.ok(slices > 72, `${slices} slices`)
  const whole = new Backtest(subject)
  const { warmUp } = whole
  while (whole.addTick(warmUp?.from ?? to, to));
  whole.finish()
  const { considered, draft, overTime, actions } = whole.report({ isComplete: true })
  t.match(draft, { matched: 3, suppressed: 21 })
  t.match(stored?.report, { considered, draft, overTime, actions, isComplete: true })
})
