import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import { changeRules, createRules } from '@automation/rules'
import { createExactAim } from '../aims.js'
import type { Plan } from '../benchmark.js'
import { type Connections, withConnections } from '../connections.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { readMebibytes } from '../machine/memory.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import { alignColumns } from '../report.js'
import { type Waits, waitsOf } from '../statistics.js'
import { actor, createWorkspace, createWorkspaces, type Workspace } from '../workspace.js'
import type { Attack } from './attack.js'
import { attacks } from './attacks.js'
import { openOutside } from './outside.js'

interface NeighbourFigures {
  attack: string
  /** MB of V8's old generation; undefined for its default. */
  heap: number | undefined
  /** The waits of the quiet workspaces before, during and after the attack. */
  alone: Waits
  attacked: Waits
  after: Waits
  /** Resident memory (MiB) of API and worker at the end of the attack. */
  apiMebibytes: number
  workerMebibytes: number
}

const quietCount = 5
/** No attack has rules for this type. */
const path = '/api/automation-rules/trigger/LEAD_CREATED'
/** What a process has in a container of 512 MiB. */
const smallHeap = 256
const defaultLimits = {
  RATE_LIMIT_ANONYMOUS: '10/15',
  RATE_LIMIT_AUTHENTICATED: '60/100',
  RATE_LIMIT_ENTERPRISE: '300/500',
}

/** What one tenant can do to others within the default limits. Each attack has a product of its own. */
export function planNeighbours(options: Options): Plan {
  const chosen = attacks.filter(({ name }) => name.includes(options.only))
  return {
    workers: null,
    async run() {
      const results: NeighbourFigures[] = []
      for (const attack of chosen)
        for (const heap of [undefined, smallHeap]) {
          const result = await measure(options, attack, heap)
          console.error(format([result]))
          results.push(result)
        }
      const slow = results.filter(isSlow)
      const aim = createExactAim({
        title: `runs, of ${results.length}, with a p99 above 100 ms and above twice that alone`,
        reached: slow.length,
        atMost: 0,
        digits: 0,
      })
      return { results, aims: [aim], text: format(results) }
    },
  }
}

/** On a product of its own. */
async function measure(
  options: Options,
  attack: Attack,
  heap: number | undefined,
): Promise<NeighbourFigures> {
  const outside = await openOutside(attack)
  try {
    const env = {
      ...defaultLimits,
      ...outside.settings,
      ...(heap && { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
    }
    return await runOnProduct(options, { workers: 1, env }, (product) =>
      withConnections(product, async (connections) => {
        const quiet = await createWorkspaces(connections.database, product, quietCount, outside.quietRules)
        const hostile = await createHostile(product, connections, attack)
        const figures = await measureAttack(product, { attack, quiet, hostile, seconds: options.seconds })
        return { attack: attack.name, heap, ...figures }
      }),
    )
  } finally {
    await outside.close()
  }
}

interface Scene {
  attack: Attack
  quiet: Workspace[]
  hostile: Workspace
  seconds: number
}

async function measureAttack(
  product: Product,
  { attack, quiet, hostile, seconds }: Scene,
): Promise<Omit<NeighbourFigures, 'attack' | 'heap'>> {
  const callers = startQuietCallers(quiet[0]?.baseUrl ?? '', quiet, path)
  const stop = new AbortController()
  try {
    await delay(3_000)
    callers.take()
    await delay(seconds * 1_000)
    const alone = waitsOf(callers.take())
    const attacking = attack.run(hostile, stop.signal)
    await delay(seconds * 2_000)
    const attacked = waitsOf(callers.take())
    const [api, worker] = await Promise.all(
      [product.apis[0], product.workers[0]].map((part) => readMebibytes(part?.pid ?? 0)),
    )
    stop.abort()
    await delay(5_000)
    callers.take()
    await delay(seconds * 1_000)
    const after = waitsOf(callers.take())
    await attacking
    const isAlive = product.apis.length === 1 && product.workers.length === 1 && api && worker
    if (!isAlive) throw new Error('A process has ended')
    return {
      alone,
      attacked,
      after,
      apiMebibytes: Math.round(api),
      workerMebibytes: Math.round(worker),
    }
  } finally {
    stop.abort()
    await callers.stop()
  }
}

/** Its rules are written to the database: at the default rate their creation would take minutes. */
async function createHostile(
  product: Product,
  connections: Connections,
  { rules, prepare }: Attack,
): Promise<Workspace> {
  const { database } = connections
  const workspace = await createWorkspace(database, product, { name: 'Hostile', rules: [] })
  const administrator = { database, workspaceId: workspace.id, actor }
  const fields = rules.map((rule) => ({ ...rule, description: '', isActive: true, mode: 'live' }))
  await changeRules(administrator, async (transaction) => {
    const created = await createRules(transaction, administrator, fields)
    const entry = created.map(({ id }) => ({ action: 'rule.created' as const, subject: id }))
    return { result: undefined, entry }
  })
  await prepare?.(workspace, connections)
  return workspace
}

function isSlow({ alone, attacked }: NeighbourFigures): boolean {
  return attacked.p99Ms > Math.max(100, 2 * alone.p99Ms)
}

function format(results: NeighbourFigures[]): string {
  const head = [
    'attack',
    'heap MB',
    'alone p50',
    'p95',
    'p99',
    'max',
    'attacked p50',
    'p95',
    'p99',
    'max',
    'after max',
    'API MiB',
    'worker MiB',
  ]
  const lines = results.map(({ attack, heap, alone, attacked, after, apiMebibytes, workerMebibytes }) => [
    attack,
    `${heap ?? 'default'}`,
    ...[alone, attacked].flatMap(({ p50Ms, p95Ms, p99Ms, maxMs }) =>
      [p50Ms, p95Ms, p99Ms, maxMs].map(formatMs),
    ),
    formatMs(after.maxMs),
    `${apiMebibytes}`,
    `${workerMebibytes}`,
  ])
  return alignColumns([head, ...lines])
}

function formatMs(ms: number): string {
  return ms.toFixed(0)
}
