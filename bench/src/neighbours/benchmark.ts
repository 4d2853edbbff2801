import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import { changeRules, createRules } from '@automation/rules'
import { createAim } from '../aims.js'
import type { Plan } from '../benchmark.js'
import { type Connections, withConnections } from '../connections.js'
import type { Wait } from '../load/open-loop.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { readMebibytes } from '../machine/memory.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import { alignColumns, whole } from '../report.js'
import { takeTurns } from '../rounds.js'
import { median, type Waits, waitsOf } from '../statistics.js'
import { actor, createWorkspace, createWorkspaces, type Workspace } from '../workspace.js'
import type { Attack } from './attack.js'
import { AttackInThread } from './attack-in-thread.js'
import type { Responses } from './attacker.js'
import { attacks } from './attacks.js'
import { openOutside } from './outside.js'

interface NeighbourFigures {
  attack: string
  /** MB of V8's old generation; undefined for its default. */
  heap: number | undefined
  /** Of the attack. */
  responses: Responses
  /** The waits of the quiet workspaces before, during and after the attack. */
  alone: Waits
  attacked: Waits
  after: Waits
  /** The longest of them (ms) in each second of the attack. */
  longestBySecond: number[]
  /** Resident memory (MiB) of API and worker at the end of the attack. */
  apiMebibytes: number
  workerMebibytes: number
}

const quietCount = 10
const warmUpMs = 3_000
/** So long after the attack all is to be as before. */
const recoveryMs = 5_000
/** No attack has rules for this type. */
const path = '/api/automation-rules/trigger/LEAD_CREATED'
/** What a process has in a container of 512 MiB. */
const smallHeap = 256
const defaultLimits = {
  RATE_LIMIT_ANONYMOUS: '10/15',
  RATE_LIMIT_AUTHENTICATED: '60/100',
  RATE_LIMIT_ENTERPRISE: '300/500',
}

/** What one tenant can do to others within the default limits. Each attack has a product of its own, in each round. */
export function planNeighbours(options: Options): Plan {
  const scenes = attacks
    .filter(({ name }) => name.includes(options.only))
    .flatMap((attack) => [undefined, smallHeap].map((heap) => ({ attack, heap })))
  return {
    workers: null,
    async run() {
      const figures = await takeTurns(scenes, options.rounds, async ({ attack, heap }) => {
        const result = await measure(options, attack, heap)
        console.error(format([result]))
        return result
      })
      const rounds = [...figures.values()]
      const medians = rounds.map(medianOf)
      const none = (title: string, isMissed: (figures: NeighbourFigures) => boolean) =>
        createAim({
          title: `of ${medians.length} attacks: ${title}`,
          rounds: [medians.filter(isMissed).length],
          atMost: 0,
          digits: 0,
        })
      const aims = [
        none('p99 > 100 ms and > 2 × alone', ({ alone, attacked }) => isSlow(attacked, alone)),
        none('the same 5 s after', ({ alone, after }) => isSlow(after, alone)),
        none('a response of 5xx, or none', ({ responses }) => responses.failed > 0),
      ]
      return { results: rounds.flat(), aims, text: format(medians) }
    },
  }
}

/** Of each figure by itself. */
function medianOf(rounds: NeighbourFigures[]): NeighbourFigures {
  const [first] = rounds
  if (first === undefined) throw new Error('It was not measured')
  const middle = (read: (figures: NeighbourFigures) => number) => median(rounds.map(read))
  const middleWaits = (name: 'alone' | 'attacked' | 'after') => ({
    count: middle((figures) => figures[name].count),
    p50Ms: middle((figures) => figures[name].p50Ms),
    p95Ms: middle((figures) => figures[name].p95Ms),
    p99Ms: middle((figures) => figures[name].p99Ms),
    p999Ms: middle((figures) => figures[name].p999Ms),
    maxMs: middle((figures) => figures[name].maxMs),
  })
  return {
    ...first,
    responses: {
      ...first.responses,
      accepted: middle(({ responses }) => responses.accepted),
      refused: middle(({ responses }) => responses.refused),
      failed: Math.max(...rounds.map(({ responses }) => responses.failed)),
    },
    alone: middleWaits('alone'),
    attacked: middleWaits('attacked'),
    after: middleWaits('after'),
    longestBySecond: first.longestBySecond.map((_, second) =>
      middle(({ longestBySecond }) => longestBySecond[second] ?? 0),
    ),
    apiMebibytes: middle(({ apiMebibytes }) => apiMebibytes),
    workerMebibytes: middle(({ workerMebibytes }) => workerMebibytes),
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

/** A wait belongs to the time at which its request was due, however late its response was. */
async function measureAttack(
  product: Product,
  { attack, quiet, hostile, seconds }: Scene,
): Promise<Omit<NeighbourFigures, 'attack' | 'heap'>> {
  const attacker = await AttackInThread.open({ name: attack.name, workspace: hostile })
  const callers = startQuietCallers(quiet[0]?.baseUrl ?? '', quiet, path)
  const startedAt = performance.now()
  /** Lets time pass. @returns the waits of the requests that were due meanwhile */
  const pass = async (ms: number) => {
    const from = performance.now() - startedAt
    await delay(ms)
    const to = performance.now() - startedAt
    return (waits: Wait[]) => waits.filter(({ dueMs }) => dueMs >= from && dueMs < to)
  }
  const watch = async () => {
    await pass(warmUpMs)
    const alone = await pass(2_000 * seconds)
    attacker.begin()
    const attacked = await pass(2_000 * seconds)
    const memory = await readMemory(product)
    const ended = attacker.end()
    ended.catch(() => {})
    await pass(recoveryMs)
    const after = await pass(1_000 * seconds)
    return { alone, attacked, after, memory, responses: await ended }
  }
  const watched = await watch().catch(async (error) => {
    await attacker.terminate()
    await callers.stop()
    throw error
  })
  const waits = await callers.stop()
  const { responses } = watched
  if (responses.accepted === 0) throw new Error('Each request of the attack was refused')
  const attacked = watched.attacked(waits)
  return {
    responses,
    alone: waitsOf(watched.alone(waits).map(({ waitMs }) => waitMs)),
    attacked: waitsOf(attacked.map(({ waitMs }) => waitMs)),
    after: waitsOf(watched.after(waits).map(({ waitMs }) => waitMs)),
    longestBySecond: longestBySecond(attacked),
    ...watched.memory,
  }
}

/** @throws where a process has ended */
async function readMemory({ apis, workers }: Product) {
  const [api, worker] = await Promise.all(
    [apis[0], workers[0]].map((part) => part && readMebibytes(part.pid)),
  )
  if (!api || !worker || apis.length !== 1 || workers.length !== 1) throw new Error('A process has ended')
  return { apiMebibytes: Math.round(api), workerMebibytes: Math.round(worker) }
}

/** The longest wait (ms) of the requests that were due in each second. */
function longestBySecond(waits: Wait[]): number[] {
  const first = waits[0]?.dueMs ?? 0
  const longest: number[] = []
  for (const { dueMs, waitMs } of waits) {
    const second = Math.max(0, Math.floor((dueMs - first) / 1_000))
    longest[second] = Math.max(longest[second] ?? 0, Math.round(waitMs))
  }
  return Array.from(longest, (ms) => ms ?? 0)
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

function isSlow({ p99Ms }: Waits, alone: Waits): boolean {
  return p99Ms > Math.max(100, 2 * alone.p99Ms)
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
    'accepted',
    'refused',
    'failed',
    'API MiB',
    'worker MiB',
  ]
  const lines = results.map(({ attack, heap, responses, alone, attacked, after, ...memory }) => [
    attack,
    `${heap ?? 'default'}`,
    ...[alone, attacked].flatMap(({ p50Ms, p95Ms, p99Ms, maxMs }) => [p50Ms, p95Ms, p99Ms, maxMs].map(whole)),
    ...[after.maxMs, responses.accepted, responses.refused, responses.failed].map(whole),
    ...[memory.apiMebibytes, memory.workerMebibytes].map(whole),
  ])
  return alignColumns([head, ...lines])
}
