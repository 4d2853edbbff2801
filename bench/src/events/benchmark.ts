import { openDatabase } from '@automation/database'
import type { Product } from '@automation/launcher'
import type { Part } from './cpu-time.js'
import { type Figures, measure } from './measure.js'
import type { Options } from './options.js'
import { type Result, summarize } from './report.js'
import type { Measurement, Scenario } from './scenarios.js'
import { createWorkspace, type Workspace } from './workspace.js'

/** Round robin: what else the machine does meanwhile then falls on all measurements alike. */
export async function runBenchmark(product: Product, options: Options): Promise<Result[]> {
  const { measurements, rounds, seconds } = options
  const pids = pidsOf(product)
  const database = openDatabase(product.databaseUrl, 1)
  const figures = new Map<Measurement, Figures[]>(measurements.map((measurement) => [measurement, []]))
  const workspaces = new Map<Scenario, Workspace>()
  try {
    for (const scenario of new Set(measurements.map((measurement) => measurement.scenario))) {
      workspaces.set(scenario, await createWorkspace(database, product, scenario))
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [{ label, scenario, connections }, ofRounds] of figures) {
        const workspace = workspaces.get(scenario) as Workspace
        const { isAsync } = scenario
        const result = await measure({ database, pids, workspace, connections, seconds, isAsync })
        ofRounds.push(result)
        console.error(`round ${round}/${rounds}  ${label}  ${Math.round(result.eventsPerSecond)} events/s`)
      }
    }
  } finally {
    await database.close()
  }
  return [...figures].map(([{ scenario, connections }, ofRounds]) =>
    summarize(scenario.name, connections, ofRounds),
  )
}

function pidsOf({ apis, workers, redis, postgres }: Product): Record<Part, number> {
  const [api] = apis
  const [worker] = workers
  if (!api || !worker || !redis || !postgres) throw new Error('The product has not started all of its parts')
  return { api: api.pid, worker: worker.pid, redis: redis.pid, postgres: postgres.pid }
}
