import type { ApiProcess } from '@automation/launcher'
import { listAims, type WantedAim } from './aims.js'
import { type Benchmark, choose, type Options } from './benchmark.js'
import { clearTraces } from './clear-traces.js'
import { pidsOf } from './cpu-time.js'
import type { LoadOrder } from './load/load.js'
import { measure, measureBacklog, whileStopped } from './measure.js'
import { runOnProduct, type Stage } from './product.js'
import { measureRounds } from './rounds.js'
import type { Figures } from './table.js'
import {
  conditions,
  createTask,
  eventData,
  eventType,
  makeRules,
  oneOfTenMatches,
  triggerPath,
} from './usual-case.js'
import { createWorkspace, type Rule, saveDrafts, type Workspace } from './workspace.js'
import { startYardsticks } from './yardsticks/start-yardstick.js'

/** A kind of request, and the server that gets it. */
interface Scenario {
  label: string
  connections: number
  /** The product, or a yardstick to compare it with (yardsticks/). */
  server: 'product' | 'inline' | 'bare'
  /**
   * sync: each caller waits for the outcome. backlog: callers wait for the 202 while the worker is stopped, and then it
   * runs the backlog. accept: the same, but the backlog is removed.
   */
  mode: 'sync' | 'backlog' | 'accept'
  /** Scenarios with the same rules share a workspace. */
  rules: Rule[]
  /** Each of its live rules has a draft. */
  hasDrafts?: boolean
  /** Number of events in a request to the batch route. */
  batch?: number
}

/** A rule needs an action. This one is always skipped, so only the cost of the rules is measured. */
const skippedTask = { ...createTask, when: { field: 'score', operator: 'less_than', value: 0 } }
const allMatch = makeRules(10, (name) => ({ name, trigger: eventType, conditions, actions: [skippedTask] }))
/** The same live rules, with a draft each, among shadows that would match. */
const besideShadows: Rule[] = [
  ...oneOfTenMatches,
  ...makeRules(90, (name) => ({
    ...{ name: `Shadow ${name}`, trigger: eventType, mode: 'shadow' as const },
    ...{ conditions, actions: [createTask] },
  })),
]

const usual = '10 rules, 1 matches, 1 task'
const shadows = `${usual}, 100 drafts and shadows @128`
const twoPhases = 'async in two phases @128'
const batches = 'batches of 100, worker stopped @16'

/** Scenarios that are compared are neighbours, so that both run under the same conditions. */
const scenarios: Scenario[] = [
  sync('10 matching rules', 128, 'product', allMatch),
  sync('10 matching rules', 128, 'inline', allMatch),
  sync(usual, 128, 'product', oneOfTenMatches),
  { ...sync(usual, 128, 'product', besideShadows), label: shadows, hasDrafts: true },
  sync(usual, 128, 'inline', oneOfTenMatches),
  { label: twoPhases, connections: 128, server: 'product', mode: 'backlog', rules: oneOfTenMatches },
  { label: 'bare route @128', connections: 128, server: 'bare', mode: 'accept', rules: [] },
  { label: batches, connections: 16, server: 'product', mode: 'accept', rules: oneOfTenMatches, batch: 100 },
  sync('10 matching rules', 1, 'product', allMatch),
  sync(usual, 1, 'product', oneOfTenMatches),
  sync(usual, 1, 'inline', oneOfTenMatches),
]

function sync(name: string, connections: number, server: 'product' | 'inline', rules: Rule[]): Scenario {
  const label = `${server === 'inline' ? 'inline: ' : ''}${name} @${connections}`
  return { label, connections, server, mode: 'sync', rules }
}

const wanted: WantedAim[] = [
  {
    title: 'sync, 10 matching rules: events/s of inline',
    of: ['10 matching rules @128', 'done/s'],
    dividedBy: ['inline: 10 matching rules @128', 'done/s'],
    atLeast: 0.8,
  },
  {
    title: 'sync, 1 of 10 matches: events/s of inline',
    of: [`${usual} @128`, 'done/s'],
    dividedBy: [`inline: ${usual} @128`, 'done/s'],
    atLeast: 0.75,
  },
  { title: 'sync, 10 matching rules: CPU µs an event', of: ['10 matching rules @128', 'all'], atMost: 450 },
  { title: 'sync, 1 of 10 matches: CPU µs an event', of: [`${usual} @128`, 'all'], atMost: 280 },
  {
    title: 'sync, 100 drafts and shadows: CPU an event, of none',
    of: [shadows, 'all'],
    dividedBy: [`${usual} @128`, 'all'],
    atMost: 1.01,
  },
  {
    title: 'async, worker stopped: requests/s of a bare route',
    of: [twoPhases, 'accepted/s'],
    dividedBy: ['bare route @128', 'accepted/s'],
    atLeast: 0.65,
  },
  { title: 'async: backlog done a second, one worker, API idle', of: [twoPhases, 'done/s'], atLeast: 2_500 },
  {
    title: 'batches, worker stopped: accepted events/s of single posts',
    of: [batches, 'accepted/s'],
    dividedBy: [twoPhases, 'accepted/s'],
    atLeast: 3,
  },
  { title: 'sync, one connection: p50 ms', of: [`${usual} @1`, 'p50 ms'], atMost: 4 },
  { title: 'sync, one connection: p99 ms', of: [`${usual} @1`, 'p99 ms'], atMost: 12 },
  {
    title: 'sync, one connection: p50 of inline',
    of: [`${usual} @1`, 'p50 ms'],
    dividedBy: [`inline: ${usual} @1`, 'p50 ms'],
    atMost: 2.2,
  },
]

export const events: Benchmark = {
  about: "from a caller's request until the rules have run, compared with servers that do less; the default",
  seconds: 5,
  rounds: 6,
  async run(options) {
    const measurements = choose(scenarios, options.only)
    return runOnProduct(options, { workers: 1 }, (stage) =>
      startYardsticks(stage.product, { inline: {}, bare: {} }, async (yardsticks) => {
        const servers = { product: stage.product.apis[0] as ApiProcess, ...yardsticks }
        const workspaces = await createWorkspaces(stage, measurements)
        const table = await measureRounds(measurements, options.rounds, (scenario) =>
          measureEvents(stage, scenario, {
            server: servers[scenario.server],
            workspace: workspaces.get(scenario.rules) as Workspace,
            seconds: options.seconds,
          }),
        )
        return { tables: [table], aims: listAims(table.lines, wanted) }
      }),
    )
  },
}

async function createWorkspaces(
  { database, product }: Stage,
  measurements: Scenario[],
): Promise<Map<Rule[], Workspace>> {
  const workspaces = new Map<Rule[], Workspace>()
  for (const { label, rules, hasDrafts } of measurements) {
    if (workspaces.has(rules)) continue
    const workspace = await createWorkspace(database, product, { name: label, rules })
    if (hasDrafts) await saveDrafts(database, workspace)
    workspaces.set(rules, workspace)
  }
  return workspaces
}

async function measureEvents(
  stage: Stage,
  scenario: Scenario,
  { server, workspace, seconds }: Pick<Options, 'seconds'> & { server: ApiProcess; workspace: Workspace },
): Promise<Figures> {
  const { label, mode, batch: eventsPerRequest = 1 } = scenario
  const isProduct = scenario.server === 'product'
  // The CPU time of an idle worker counts, too: it is part of the cost of the product.
  const workers = isProduct ? stage.product.workers.slice(0, 1) : []
  const { Redis, ...others } = pidsOf(stage.product, [server], workers)
  const pids = isProduct ? { ...others, ...(Redis && { Redis }) } : others
  const order = { ...orderOf(scenario, server, workspace), connections: scenario.connections }
  // Each begins with small tables, and without dirty pages that Postgres would write meanwhile.
  const clear = () => clearTraces(stage, 'yardstick_events')
  await clear()
  const options = { label, order, pids, seconds, eventsPerRequest }
  if (mode === 'sync') return measure(stage, { ...options, done: 'with responses' })
  if (mode === 'backlog') return measureBacklog(stage, { ...options, workers })
  return whileStopped(workers, async () => {
    const figures = await measure(stage, { ...options, afterWarmUp: clear })
    await clear()
    return figures
  })
}

function orderOf(
  { mode, batch }: Scenario,
  { baseUrl }: ApiProcess,
  { headers }: Workspace,
): Omit<LoadOrder, 'seconds' | 'ratePerSecond' | 'connections'> {
  const event = { data: eventData }
  const body = batch === undefined ? event : { events: Array.from({ length: batch }, () => event) }
  return {
    origins: [baseUrl],
    requests: [
      {
        path: `${triggerPath}${batch === undefined ? '' : '/batch'}`,
        headers: mode === 'sync' ? headers : { ...headers, prefer: 'respond-async' },
        payload: JSON.stringify(body),
      },
    ],
    expectedStatus: mode === 'sync' ? 200 : 202,
  }
}
