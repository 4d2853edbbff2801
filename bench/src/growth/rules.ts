import type { ApiProcess, Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import { runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf } from '../cpu-time.js'
import { readMebibytes } from '../machine/memory.js'
import type { Figures } from '../measure.js'
import { measureBacklog } from '../measure-backlog.js'
import type { Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import type { Result } from '../report.js'
import { median } from '../statistics.js'
import { createWorkspace, type Workspace } from '../workspace.js'
import { growthData, insertRules, types } from './insert-rules.js'
import type { GrowthScenario } from './scenarios.js'

/** The cost of loading all rules of a workspace into a worker. */
export interface Cache {
  rules: number
  /** The time from the first event until one event of each type is done. */
  ms: number
  /** The growth of the worker's memory. */
  mebibytes: number
}

/** The same event with more and more rules, of which always one matches. */
export function measureRules(
  product: Product,
  measurements: Measurement<GrowthScenario>[],
  { rounds, seconds }: Options,
): Promise<{ results: Result[]; caches: Cache[] }> {
  return withConnections(product, async (connections) => {
    const { database, postgres } = connections
    const workspaces = new Map<GrowthScenario, Workspace>()
    const caches = new Map<number, Cache[]>(measurements.map(({ scenario }) => [scenario.size, []]))
    for (const { scenario } of measurements) {
      const workspace = await createWorkspace(database, product, { name: scenario.name, rules: [] })
      await insertRules(postgres, workspace.id, scenario.size)
      workspaces.set(scenario, workspace)
    }
    const results = await runRounds(measurements, rounds, async (measurement) => {
      const { scenario } = measurement
      const workspace = workspaces.get(scenario) as Workspace
      const { cache, figures } = await measureNewWorker(product, connections, workspace, measurement, seconds)
      caches.get(scenario.size)?.push({ rules: scenario.size, ...cache })
      return figures
    })
    return { results, caches: [...caches].map(([rules, ofRounds]) => summarize(rules, ofRounds)) }
  })
}

async function measureNewWorker(
  product: Product,
  { database, redis }: Connections,
  { baseUrl, headers }: Workspace,
  { connections }: Measurement<GrowthScenario>,
  seconds: number,
): Promise<{ cache: Omit<Cache, 'rules'>; figures: Figures }> {
  await clearTraces(database, redis)
  const worker = await product.startWorker()
  try {
    const asynchronous = { ...headers, prefer: 'respond-async' }
    const before = await readMebibytes(worker.pid)
    const startedAt = performance.now()
    for (const type of types) await post(baseUrl, asynchronous, type)
    await drainBacklog(database)
    const ms = performance.now() - startedAt
    const mebibytes = (await readMebibytes(worker.pid)) - before
    const path = `/api/automation-rules/trigger/${types[0]}`
    const figures = await measureBacklog({
      order: {
        origins: [baseUrl],
        requests: [{ path, headers: asynchronous, payload: JSON.stringify({ data: growthData }) }],
        expectedStatus: 202,
        connections,
      },
      pids: pidsOf(product, product.apis.slice(0, 1) as ApiProcess[], [worker]),
      seconds,
      database,
      workers: [worker],
    })
    return { cache: { ms, mebibytes }, figures }
  } finally {
    await worker.stop()
  }
}

export const done = ({ donePerSecond }: Figures) => donePerSecond ?? Number.NaN

async function post(baseUrl: string, headers: Record<string, string>, type: string): Promise<void> {
  const body = JSON.stringify({ data: { segment: 'none' } })
  const answer = await fetch(`${baseUrl}/api/automation-rules/trigger/${type}`, {
    method: 'POST',
    headers,
    body,
  })
  if (answer.status !== 202) throw new Error(`Answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}

function summarize(rules: number, ofRounds: Cache[]): Cache {
  return {
    rules,
    ms: Math.round(median(ofRounds.map(({ ms }) => ms))),
    mebibytes: Math.round(median(ofRounds.map(({ mebibytes }) => mebibytes))),
  }
}
