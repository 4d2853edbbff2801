import type { NodeProcess, Product } from '@automation/launcher'
import { type Aim, createAim, ratiosOf } from '../aims.js'
import { type ProductPlan, runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf } from '../cpu-time.js'
import { eventData, eventType, oneOfTenMatches } from '../events/scenarios.js'
import { type Figures, measure } from '../measure.js'
import { chooseMeasurements, type Scenario } from '../measurements.js'
import type { Options } from '../options.js'
import { formatTable, type Result, sumCpu } from '../report.js'
import { createWorkspace, type Workspace } from '../workspace.js'

interface ScaleScenario extends Scenario {
  apis: number
  workers: number
}

const callers = 128

/** The same number of callers on more processes, and then a number in proportion to the processes. */
const scenarios: ScaleScenario[] = [1, 2].flatMap((apis) =>
  [1, 2, 4].map((workers) => ({
    name: `${count(apis, 'API')}, ${count(workers, 'worker')}`,
    apis,
    workers,
    connections: [...new Set([callers, callers * Math.max(apis, workers)])],
  })),
)

/** On the same cores, more processes do not add capacity, and should not reduce it. */
export function planScale(options: Options): ProductPlan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: 0,
    run: (product) =>
      withConnections(product, async (connections) => {
        const rules = oneOfTenMatches
        const workspace = await createWorkspace(connections.database, product, { name: 'Scale', rules })
        const stage = { ...connections, product, workspace }
        const results = await runRounds(measurements, options.rounds, ({ scenario, connections }) =>
          measureScale(stage, scenario, connections, options.seconds),
        )
        return { results, aims: listAims(results), text: formatTable(results) }
      }),
  }
}

async function measureScale(
  stage: Connections & { product: Product; workspace: Workspace },
  { apis, workers }: ScaleScenario,
  connections: number,
  seconds: number,
): Promise<Figures> {
  const { product, database, redis, workspace } = stage
  await clearTraces(database, redis)
  const others = await Promise.all(Array.from({ length: apis - 1 }, () => product.startApi()))
  const running: NodeProcess[] = await Promise.all(
    Array.from({ length: workers }, () => product.startWorker()),
  )
  const asked = [...product.apis.slice(0, 1), ...others]
  try {
    const figures = await measure({
      order: {
        origins: asked.map(({ baseUrl }) => baseUrl),
        requests: [
          {
            path: `/api/automation-rules/trigger/${eventType}`,
            headers: workspace.headers,
            payload: JSON.stringify({ data: eventData }),
          },
        ],
        expectedStatus: 200,
        connections,
      },
      pids: pidsOf(product, asked, running),
      seconds,
    })
    return { ...figures, donePerSecond: figures.acceptedPerSecond }
  } finally {
    await Promise.all([...others, ...running].map((process) => process.stop()))
  }
}

function listAims([first, ...others]: Result[]): Aim[] {
  return others.map(({ scenario, connections, rounds }) =>
    createAim({
      title: `${scenario} @${connections}: CPU an event, of ${first?.scenario} @${first?.connections}`,
      rounds: ratiosOf(rounds.map(sumCpu), (first?.rounds ?? []).map(sumCpu)),
      atMost: 1.15,
      digits: 2,
    }),
  )
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
