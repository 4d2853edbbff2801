import { openDatabase } from '@automation/database'
import type { Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import { type Plan, runRounds } from '../benchmark.js'
import { pidsOf } from '../cpu-time.js'
import { measure } from '../measure.js'
import { chooseMeasurements, type Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import { formatTable, type Result } from '../report.js'
import { createWorkspace, type Workspace } from '../workspace.js'
import { type EventScenario, eventData, eventType, scenarios } from './scenarios.js'

/** From a caller's request until the rules have run. */
export function planEvents(options: Options): Plan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: 1,
    async run(product) {
      const results = await runEvents(product, measurements, options)
      return { results, text: formatTable(results) }
    },
  }
}

async function runEvents(
  product: Product,
  measurements: Measurement<EventScenario>[],
  { rounds, seconds }: Options,
): Promise<Result[]> {
  const pids = pidsOf(product, product.apis[0], product.workers[0])
  const database = openDatabase(product.databaseUrl, 1)
  const workspaces = new Map<EventScenario, Workspace>()
  try {
    for (const scenario of new Set(measurements.map((measurement) => measurement.scenario))) {
      workspaces.set(scenario, await createWorkspace(database, product, scenario))
    }
    return await runRounds(measurements, rounds, ({ scenario, connections }) => {
      const { baseUrl, headers } = workspaces.get(scenario) as Workspace
      const order = {
        origin: baseUrl,
        path: `/api/automation-rules/trigger/${eventType}`,
        headers: scenario.isAsync ? { ...headers, prefer: 'respond-async' } : headers,
        payload: JSON.stringify({ data: eventData }),
        expectedStatus: scenario.isAsync ? 202 : 200,
        connections,
      }
      return measure({
        order,
        pids,
        seconds,
        drain: scenario.isAsync ? () => drainBacklog(database) : undefined,
      })
    })
  } finally {
    await database.close()
  }
}
