import type { ProductPlan } from '../benchmark.js'
import { withConnections } from '../connections.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { measureBeside } from './measure-beside.js'
import { measurePace } from './measure-pace.js'
import { aimsOf, formatBacktests, type Pace } from './report.js'
import { prepare, type Stage } from './tested-rule.js'

/** Of those scanned, one of twenty is of the trigger. */
const histories = [
  { name: 'considered', every: 1 },
  { name: 'scanned', every: 20 },
] as const

/** How fast backtests are at full pace, and what a gentle one does to live events. */
export function planBacktest({ rounds, seconds, only }: Options): ProductPlan {
  return {
    workers: 1,
    run: (product) =>
      withConnections(product, async (connections) => {
        const [api, worker] = [product.apis[0], product.workers[0]]
        if (api === undefined || worker === undefined) throw new Error('The product has not started')
        const stage = { ...connections, product, api, worker }
        const paces = await measurePaces(stage, rounds, only)
        const beside = 'gentle'.includes(only) ? await measureBeside(stage, rounds, seconds) : []
        return {
          results: [...paces, ...beside],
          aims: aimsOf(paces, beside),
          text: formatBacktests(paces, beside),
        }
      }),
  }
}

async function measurePaces(stage: Stage, rounds: number, only: string): Promise<Pace[]> {
  const targets = []
  for (const history of histories.filter(({ name }) => name.includes(only)))
    targets.push({ ...history, tested: await prepare(stage, history.every) })
  const figures = await takeTurns(targets, rounds, async ({ name, tested }, round) => {
    const pace = await measurePace(stage, name, tested)
    console.error(`round ${round}/${rounds}  ${name}  ${Math.round(pace.scanned / pace.seconds)} scanned/s`)
    return pace
  })
  return [...figures.values()].flat()
}
