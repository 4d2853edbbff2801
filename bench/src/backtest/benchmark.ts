import { listAims, type WantedAim } from '../aims.js'
import { type Benchmark, choose } from '../benchmark.js'
import { pidsOf } from '../cpu-time.js'
import { runOnProduct } from '../product.js'
import { measureRounds } from '../rounds.js'
import { createWorkspaces, oneTask } from '../workspace.js'
import { measureLive } from './measure-live.js'
import { measurePace } from './measure-pace.js'
import { createTested } from './tested-rule.js'

const gentle = 'live events, during a gentle backtest'
const alone = 'live events, alone'
const busy = 'live events, beside a busy loop'

/** Of those scanned, one of twenty is of the trigger. */
const measurements = [
  { label: 'considered', every: 1 },
  { label: 'scanned', every: 20 },
  { label: alone, every: 1, kind: 'alone' as const },
  { label: gentle, every: 1, kind: 'gentle' as const },
  { label: busy, every: 1, kind: 'busy' as const },
]

/** What we require of a backtest: the worker has one core, and Postgres another one. */
const wanted: WantedAim[] = [
  { title: 'considered events/s, full pace', of: ['considered', 'considered/s'], atLeast: 50_000 },
  { title: 'scanned events/s, full pace', of: ['scanned', 'scanned/s'], atLeast: 200_000 },
  { title: 'first figures, considered, ms', of: ['considered', 'first figures ms'], atMost: 1_000 },
  { title: 'first figures, scanned, ms', of: ['scanned', 'first figures ms'], atMost: 1_000 },
  {
    title: 'p95 of live events: during a gentle backtest, divided by alone',
    of: [gentle, 'p95 ms'],
    dividedBy: [alone, 'p95 ms'],
    atMost: 1.1,
  },
  {
    title: 'p95 of live events: during a gentle backtest, divided by beside a busy loop',
    of: [gentle, 'p95 ms'],
    dividedBy: [busy, 'p95 ms'],
    atMost: 1.1,
  },
]

/** How fast backtests are at full pace, and what a gentle one does to live events. */
export const backtest: Benchmark = {
  about: 'how fast backtests are over 200,000 events, and what a gentle one does to live events',
  seconds: 10,
  rounds: 6,
  async run(options) {
    const chosen = choose(measurements, options.only)
    return runOnProduct(options, { workers: 1 }, async (stage) => {
      const tested = new Map<number, Awaited<ReturnType<typeof createTested>>>()
      for (const every of new Set(chosen.map((measurement) => measurement.every)))
        tested.set(every, await createTested(stage, every))
      const callers = await createWorkspaces(stage.database, stage.product, 50, oneTask)
      const table = await measureRounds(chosen, options.rounds, ({ label, every, kind }) => {
        const rule = tested.get(every)
        if (rule === undefined) throw new Error('There is no rule to test')
        const { product } = stage
        return kind === undefined
          ? measurePace(stage, pidsOf(product, product.apis, product.workers), label, rule)
          : measureLive(stage, { label, kind, tested: rule, callers, seconds: options.seconds })
      })
      return { tables: [table], aims: listAims(table.lines, wanted) }
    })
  },
}
