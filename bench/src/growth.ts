import { listAims, type WantedAim } from './aims.js'
import { drainBacklog } from './backlog.js'
import { type Benchmark, choose, type Options } from './benchmark.js'
import { clearTraces } from './clear-traces.js'
import { pidsOf } from './cpu-time.js'
import { readMebibytes } from './machine/memory.js'
import { measureBacklog } from './measure.js'
import { runOnProduct, type Stage } from './product.js'
import { measureRounds } from './rounds.js'
import { growthData, insertRules, types } from './stored/insert-rules.js'
import { Table } from './table.js'
import { triggerPath } from './usual-case.js'
import { createWorkspace, type Workspace } from './workspace.js'

const ruleCounts = [10, 1_000, 100_000]
const connections = 128

/** More and more rules, of which always one matches. */
interface Scenario {
  label: string
  rules: number
}

const scenarios: Scenario[] = ruleCounts.map((rules) => ({
  label: `events, ${tell(rules)} rules @${connections}`,
  rules,
}))

/** How throughput changes with the number of rules. */
export const growth: Benchmark = {
  about: 'with up to 100,000 rules in a workspace',
  seconds: 4,
  rounds: 6,
  async run(options) {
    const chosen = choose(scenarios, options.only)
    return runOnProduct(options, { workers: 0 }, async (stage) => {
      const tables = await measureRules(stage, chosen, options)
      const lines = tables.flatMap((table) => table.lines)
      return { tables, aims: listAims(lines, aimsOf(chosen)) }
    })
  },
}

/** @returns the measurements, and what it costs a new worker to read the rules */
async function measureRules(stage: Stage, scenarios: Scenario[], options: Options): Promise<Table[]> {
  const { database, postgres, product } = stage
  const workspaces = new Map<Scenario, Workspace>()
  const readings = new Table()
  for (const scenario of scenarios) {
    const workspace = await createWorkspace(database, product, { name: scenario.label, rules: [] })
    await insertRules(postgres, workspace.id, scenario.rules)
    workspaces.set(scenario, workspace)
  }
  const table = await measureRounds(scenarios, options.rounds, async (scenario) => {
    const workspace = workspaces.get(scenario) as Workspace
    await clearTraces(stage)
    const worker = await product.startWorker()
    try {
      const before = await readMebibytes(worker.pid)
      const startedAt = performance.now()
      await postEachType(workspace)
      await drainBacklog(database)
      readings.add(`a new worker reads ${tell(scenario.rules)} rules`, {
        ms: performance.now() - startedAt,
        MiB: (await readMebibytes(worker.pid)) - before,
      })
      const headers = { ...workspace.headers, prefer: 'respond-async' }
      return await measureBacklog(stage, {
        label: scenario.label,
        order: {
          origins: [workspace.baseUrl],
          requests: [{ path: triggerPath, headers, payload: JSON.stringify({ data: growthData }) }],
          ...{ expectedStatus: 202, connections },
        },
        pids: pidsOf(product, product.apis.slice(0, 1), [worker]),
        ...{ seconds: options.seconds, workers: [worker] },
      })
    } finally {
      await worker.stop()
    }
  })
  return [table, readings]
}

/** Makes the worker read all rules of the workspace, which it caches by type. */
async function postEachType({ baseUrl, headers }: Workspace): Promise<void> {
  const body = JSON.stringify({ data: { segment: 'none' } })
  for (const type of types) {
    const response = await fetch(`${baseUrl}/api/automation-rules/trigger/${type}`, {
      ...{ method: 'POST', headers: { ...headers, prefer: 'respond-async' }, body },
    })
    if (response.status !== 202) throw new Error(`Got ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

function aimsOf([first, ...others]: Scenario[]): WantedAim[] {
  return others.map(({ label }) => ({
    title: `${label}: done/s of ${first?.label}`,
    of: [label, 'done/s'],
    dividedBy: [first?.label ?? '', 'done/s'],
    atLeast: 0.8,
  }))
}

function tell(count: number): string {
  return count.toLocaleString('en-US')
}
