import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import { changeRules, completeDefinition, createRules } from '@automation/rules'
import { createExactAim } from '../aims.js'
import { type Benchmark, choose, type Options } from '../benchmark.js'
import type { Wait } from '../load/open-loop.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { readMebibytes } from '../machine/memory.js'
import { runOnProduct, type Stage } from '../product.js'
import { measureRounds } from '../rounds.js'
import { describeWaits, median, waitsOf } from '../statistics.js'
import type { Figures, Line } from '../table.js'
import { triggerPath } from '../usual-case.js'
import { actor, createWorkspace, createWorkspaces, type Workspace } from '../workspace.js'
import type { Attack } from './attack.js'
import { AttackInThread } from './attack-in-thread.js'
import { attacks } from './attacks.js'
import { openOutside } from './outside.js'

interface Scene {
  label: string
  attack: Attack
  /** MB of V8's old generation; undefined for its default. */
  heap: number | undefined
}

const quietCount = 10
const warmUpMs = 3_000
/** So long after the attack all is to be as before. */
const recoveryMs = 5_000
/** What a process has in a container of 512 MiB. */
const smallHeap = 256
const defaultLimits = {
  RATE_LIMIT_ANONYMOUS: '10/15',
  RATE_LIMIT_AUTHENTICATED: '60/100',
  RATE_LIMIT_ENTERPRISE: '300/500',
}

const scenes: Scene[] = attacks.flatMap((attack) => [
  { label: attack.name, attack, heap: undefined },
  { label: `${attack.name}, heap of ${smallHeap} MB`, attack, heap: smallHeap },
])

/** What one tenant can do to others within the default limits. Each attack has a product of its own, in each round. */
export const neighbours: Benchmark = {
  about: 'what one tenant can do to others within the default limits, also with a heap of 256 MB',
  seconds: 10,
  rounds: 1,
  async run(options) {
    const chosen = scenes.filter(({ label }) => label.includes(options.only))
    const table = await measureRounds(
      chosen.length > 0 ? chosen : choose(scenes, options.only),
      options.rounds,
      (scene) => measure(options, scene),
    )
    const { lines } = table
    const count = (title: string, isMissed: (line: Line) => boolean) =>
      createExactAim(`of ${lines.length} attacks: ${title}`, lines.filter(isMissed).length, { atMost: 0 })
    const aims = [
      count('p99 > 250 ms and > 5 × alone', (line) => isSlow(line, 'attacked')),
      count('the same 5 s after', (line) => isSlow(line, 'after')),
      count('a response of 5xx, or none', ({ rounds }) => rounds.some(({ failed = 0 }) => failed > 0)),
    ]
    return { tables: [table], aims }
  },
}

/** On a product of its own. */
async function measure(options: Options, { attack, heap }: Scene): Promise<Figures> {
  const outside = await openOutside(attack)
  try {
    const env = {
      ...defaultLimits,
      ...outside.settings,
      ...(heap && { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
    }
    return await runOnProduct(options, { workers: 1, env }, async (stage) => {
      const quiet = await createWorkspaces(stage.database, stage.product, quietCount, outside.quietRules)
      const hostile = await createHostile(stage, attack)
      const links = (await attack.gatherLinks?.(hostile, stage)) ?? []
      return measureAttack(stage.product, { attack, quiet, hostile, links, seconds: options.seconds })
    })
  } finally {
    await outside.close()
  }
}

/** A wait belongs to the time at which its request was due, however late its response was. */
async function measureAttack(
  product: Product,
  {
    attack,
    quiet,
    hostile,
    links,
    seconds,
  }: { attack: Attack; quiet: Workspace[]; hostile: Workspace; links: string[]; seconds: number },
): Promise<Figures> {
  const attacker = await AttackInThread.open({ name: attack.name, workspace: hostile, links })
  const callers = startQuietCallers(quiet[0]?.baseUrl ?? '', quiet, triggerPath)
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
  if (responses.accepted === 0)
    throw new Error(`Each request of the attack was refused: ${responses.firstRefusal}`)
  const attacked = watched.attacked(waits)
  const firstDueMs = attacked[0]?.dueMs ?? 0
  const inFirstSecond = attacked.filter(({ dueMs }) => dueMs < firstDueMs + 1_000)
  return {
    ...describeWaits(measureWaits(watched.alone(waits)), 'alone'),
    ...describeWaits(measureWaits(attacked), 'attacked'),
    'first second max ms': measureWaits(inFirstSecond).maxMs,
    ...describeWaits(measureWaits(watched.after(waits)), 'after'),
    ...{ accepted: responses.accepted, refused: responses.refused, failed: responses.failed },
    ...watched.memory,
  }
}

function measureWaits(waits: Wait[]) {
  return waitsOf(waits.map(({ waitMs }) => waitMs))
}

/** @throws if a process has ended */
async function readMemory({ apis, workers }: Product) {
  const [api, worker] = await Promise.all(
    [apis[0], workers[0]].map((part) => part && readMebibytes(part.pid)),
  )
  if (!api || !worker || apis.length !== 1 || workers.length !== 1) throw new Error('A process has ended')
  return { 'API MiB': Math.round(api), 'worker MiB': Math.round(worker) }
}

/** Its rules are written to the database: at the default rate their creation would take minutes. */
async function createHostile(stage: Stage, { rules, prepare }: Attack): Promise<Workspace> {
  const { database, product } = stage
  const workspace = await createWorkspace(database, product, { name: 'Hostile', rules: [] })
  const administrator = { database, workspaceId: workspace.id, actor }
  const fields = rules.map((rule) => ({ ...completeDefinition(rule), isActive: true, mode: 'live' }))
  await changeRules(administrator, async (transaction) => {
    const created = await createRules(transaction, administrator, fields)
    const entry = created.map(({ id }) => ({ action: 'rule.created' as const, subject: id }))
    return { result: undefined, entry }
  })
  await prepare?.(workspace, stage)
  return workspace
}

function isSlow({ rounds }: Line, name: 'attacked' | 'after'): boolean {
  const [p99, alone] = [name, 'alone'].map((one) =>
    median(rounds.map((figures) => figures[`${one} p99 ms`] ?? 0)),
  ) as [number, number]
  return p99 > Math.max(250, 5 * alone)
}
