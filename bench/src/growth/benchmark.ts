import { type Aim, createAim, ratiosOf } from '../aims.js'
import type { Plan } from '../benchmark.js'
import type { Figures } from '../measure.js'
import { chooseMeasurements } from '../measurements.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import { alignColumns, formatTable, type Result, whole } from '../report.js'
import { measureHistories } from './history.js'
import { type Cache, done, measureRules } from './rules.js'
import { type GrowthScenario, listScenarios, tell } from './scenarios.js'

/** How throughput changes with the number of rules and the length of the history. */
export function planGrowth(options: Options): Plan {
  const measurements = chooseMeasurements(listScenarios(options.isLarge), options.only)
  const about = (grows: GrowthScenario['grows']) =>
    measurements.filter(({ scenario }) => scenario.grows === grows)
  return {
    workers: null,
    run: () =>
      runOnProduct(options, { workers: 0 }, async (product) => {
        const rules = await measureRules(product, about('rules'), options)
        const histories = await measureHistories(product, about('history'), options)
        const results = [...rules.results, ...histories]
        return {
          results: [...results, ...rules.caches],
          aims: [...aimsOfRules(rules.results), ...aimsOfHistories(histories)],
          text: [formatTable(results), formatCaches(rules.caches)].join('\n\n').trimEnd(),
        }
      }),
  }
}

function aimsOfRules([first, ...others]: Result[]): Aim[] {
  return others.map((result) =>
    createAim({
      title: `${result.scenario}: done/s of ${first?.scenario}`,
      rounds: ratiosOf(result.rounds.map(done), (first?.rounds ?? []).map(done)),
      atLeast: 0.8,
      digits: 2,
    }),
  )
}

/** The ratio of the times with and without a history. Measurements without one come first. */
function aimsOfHistories(results: Result[]): Aim[] {
  const paces = ({ rounds }: Result) => rounds.map(({ acceptedPerSecond }: Figures) => acceptedPerSecond)
  const asked = ({ scenario }: Result) => scenario.split(', history')[0]
  return results.flatMap((result) => {
    const first = results.find((other) => asked(other) === asked(result))
    if (first === undefined || first === result) return []
    const rounds = ratiosOf(paces(first), paces(result))
    return [createAim({ title: `${result.scenario}: times as long`, rounds, atMost: 1.3, digits: 2 })]
  })
}

function formatCaches(caches: Cache[]): string {
  if (caches.length === 0) return ''
  const rows = caches.map(({ rules, ms, mebibytes }) => [tell(rules), whole(ms), whole(mebibytes)])
  return alignColumns([['a new worker reads rules', 'ms', 'MiB'], ...rows])
}
