import { setTimeout as delay } from 'node:timers/promises'
import type { ApiProcess, NodeProcess, Product } from '@automation/launcher'
import type { ProductPlan } from '../benchmark.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf, readCpuMicros } from '../cpu-time.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { waitsOf } from '../statistics.js'
import { createWorkspace, createWorkspaces, oneTask, type Rule, type Workspace } from '../workspace.js'
import { insertEvents } from './insert-events.js'
import { aimsOf, type Beside, formatBacktests, type Pace, type Stretch } from './report.js'

const events = 200_000
/** Of those scanned, one of twenty is of the trigger. */
const histories = [
  { name: 'considered', every: 1 },
  { name: 'scanned', every: 20 },
] as const
/** Each posts an event a second and waits for its outcome. */
const callerCount = 50
const warmUpMs = 2_000
const lookEveryMs = 10
const limitMs = 300_000
const rulesPath = '/api/automation-rules'
const path = `${rulesPath}/backtests`

/** Two conditions, of which half of the events fulfil both. */
const rule: Rule = {
  name: 'Hot leads',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field: 'status', operator: 'equals', value: 'new' },
    { field: 'score', operator: 'greater_than', value: 80 },
  ],
  actions: [
    { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello {{name}}', template: 'hello' } },
  ],
}
const definition = {
  trigger: rule.trigger,
  conditions: [rule.conditions[0], { field: 'score', operator: 'greater_than', value: 49 }],
  actions: rule.actions,
}

interface Stage extends Connections {
  product: Product
  api: ApiProcess
  worker: NodeProcess
}

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

interface Tested {
  workspace: Workspace
  ruleId: string
}

async function prepare({ database, product, postgres }: Stage, every: number): Promise<Tested> {
  const workspace = await createWorkspace(database, product, { name: 'History', rules: [rule] })
  const { id: ruleId } = await database.forWorkspace(workspace.id).rule.findFirstOrThrow()
  await insertEvents(postgres, workspace.id, { events, every })
  return { workspace, ruleId }
}

interface Answer {
  id: string
  status: string
  report: { scanned: number; considered: number } | null
}

async function measurePace(stage: Stage, name: Pace['name'], tested: Tested): Promise<Pace> {
  const { product, api, worker, postgres } = stage
  await postgres.query('CHECKPOINT')
  const pids = pidsOf(product, [api], [worker])
  const askedAt = performance.now()
  const { id } = await create(tested, 'full')
  let [beganAt, firstAt] = [0, 0]
  let before = readCpuMicros(pids)
  for (;;) {
    const { status, report } = await call(tested.workspace, 'GET', `${path}/${id}`)
    const now = performance.now()
    if (status !== 'waiting' && beganAt === 0) {
      beganAt = now
      before = readCpuMicros(pids)
    }
    if (report !== null && firstAt === 0) firstAt = now
    if (status === 'done' && report !== null) {
      const after = readCpuMicros(pids)
      const { scanned, considered } = report
      return {
        name,
        scanned,
        considered,
        seconds: (now - beganAt) / 1_000,
        firstFiguresMs: firstAt - askedAt,
        workerMicros: (after.worker ?? 0) - (before.worker ?? 0),
        postgresMicros: (after.postgres ?? 0) - (before.postgres ?? 0),
      }
    }
    if (status === 'failed' || now - askedAt > limitMs) throw new Error(`The backtest is ${status}`)
    await delay(lookEveryMs)
  }
}

async function measureBeside(stage: Stage, rounds: number, seconds: number): Promise<Beside[]> {
  const tested = await prepare(stage, 1)
  const callers = await createWorkspaces(stage.database, stage.product, callerCount, oneTask)
  const posting = startQuietCallers(stage.api.baseUrl, callers, `${rulesPath}/trigger/LEAD_CREATED`)
  try {
    const figures = await takeTurns(['alone', 'gentle'] as const, rounds, async (name, round) => {
      console.error(`round ${round}/${rounds}  live events  ${name}`)
      const ids = name === 'gentle' ? await createSome(tested) : []
      await delay(warmUpMs)
      const stretch = await measureStretch(stage, posting.take, seconds)
      for (const id of ids) await call(tested.workspace, 'DELETE', `${path}/${id}`, [204, 409])
      return stretch
    })
    const [alone = [], gentle = []] = [figures.get('alone'), figures.get('gentle')]
    return alone.map((stretch, round) => ({ alone: stretch, gentle: gentle[round] as Stretch }))
  } finally {
    await posting.stop()
  }
}

/** More than end within a stretch: one at a time is computed. */
async function createSome(tested: Tested): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await create(tested, 'gentle')).id)
  return ids
}

async function measureStretch(
  { product, api, worker }: Stage,
  take: () => number[],
  seconds: number,
): Promise<Stretch> {
  take()
  const pids = pidsOf(product, [api], [worker])
  const before = readCpuMicros(pids)
  const startedAt = performance.now()
  await delay(seconds * 1_000)
  const after = readCpuMicros(pids)
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    waits: waitsOf(take()),
    workerMicros: (after.worker ?? 0) - (before.worker ?? 0),
  }
}

function create({ workspace, ruleId }: Tested, pace: 'gentle' | 'full'): Promise<Answer> {
  return call(workspace, 'POST', path, [202], { ruleId, definition, pace })
}

async function call(
  { baseUrl, headers }: Workspace,
  method: string,
  url: string,
  expected: number[] = [200],
  body?: object,
): Promise<Answer> {
  const { 'content-type': type, ...others } = headers as Record<string, string>
  const response = await fetch(`${baseUrl}${url}`, {
    method,
    headers: body ? { ...others, 'content-type': type ?? '' } : others,
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!expected.includes(response.status)) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return (response.status === 204 ? {} : JSON.parse(text)) as Answer
}
