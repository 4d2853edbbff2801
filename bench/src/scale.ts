import type { NodeProcess } from '@automation/launcher'
import { listAims } from './aims.js'
import { type Benchmark, choose } from './benchmark.js'
import { clearTraces } from './clear-traces.js'
import { pidsOf } from './cpu-time.js'
import { measure } from './measure.js'
import { runOnProduct, type Stage } from './product.js'
import { measureRounds } from './rounds.js'
import type { Figures } from './table.js'
import { eventData, oneOfTenMatches, triggerPath } from './usual-case.js'
import { createWorkspace, type Workspace } from './workspace.js'

interface Scenario {
  label: string
  apis: number
  workers: number
  connections: number
}

const callers = 128

/** The same number of callers on more processes, and then a number in proportion to the processes. */
const scenarios: Scenario[] = [1, 2].flatMap((apis) =>
  [1, 2, 4].flatMap((workers) =>
    [...new Set([callers, callers * Math.max(apis, workers)])].map((connections) => ({
      label: `${count(apis, 'API')}, ${count(workers, 'worker')} @${connections}`,
      ...{ apis, workers, connections },
    })),
  ),
)

/** On the same cores, more processes do not add capacity, and should not reduce it. */
export const scale: Benchmark = {
  about: 'with 1, 2 and 4 workers and 1 and 2 APIs',
  seconds: 4,
  rounds: 6,
  async run({ seconds, rounds, only, profile }) {
    const [first, ...others] = choose(scenarios, only)
    return runOnProduct({ profile }, { workers: 0 }, async (stage) => {
      const rules = oneOfTenMatches
      const workspace = await createWorkspace(stage.database, stage.product, { name: 'Scale', rules })
      const table = await measureRounds([first as Scenario, ...others], rounds, (scenario) =>
        measureScale(stage, workspace, scenario, seconds),
      )
      const base = first?.label ?? ''
      const aims = others.map(({ label }) => ({
        title: `${label}: CPU an event, of ${base}`,
        of: [label, 'all'] as [string, string],
        dividedBy: [base, 'all'] as [string, string],
        atMost: 1.15,
      }))
      return { tables: [table], aims: listAims(table.lines, aims) }
    })
  },
}

async function measureScale(
  stage: Stage,
  { headers }: Workspace,
  { label, apis, workers, connections }: Scenario,
  seconds: number,
): Promise<Figures> {
  const { product } = stage
  await clearTraces(stage)
  const others = await Promise.all(Array.from({ length: apis - 1 }, () => product.startApi()))
  const running: NodeProcess[] = await Promise.all(
    Array.from({ length: workers }, () => product.startWorker()),
  )
  const asked = [...product.apis.slice(0, 1), ...others]
  const request = { path: triggerPath, headers, payload: JSON.stringify({ data: eventData }) }
  try {
    return await measure(stage, {
      label,
      order: {
        origins: asked.map(({ baseUrl }) => baseUrl),
        ...{ requests: [request], expectedStatus: 200, connections },
      },
      pids: pidsOf(product, asked, running),
      seconds,
      done: 'with responses',
    })
  } finally {
    await Promise.all([...others, ...running].map((process) => process.stop()))
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
