import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import type { ProductPlan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import type { Options } from '../options.js'
import { createWorkspace, oneTask, type Workspace } from '../workspace.js'
import { insertWaiting } from './insert-waiting.js'
import { aimsOf, type BrakeFigures, formatBrake } from './report.js'

const pollMs = 50
const limitMs = 1_800_000
const path = '/api/automation-rules'

/** How long it takes to switch a rule off that many executions wait for, and until one worker has cancelled them. */
export function planBrake(options: Options): ProductPlan {
  return {
    workers: 1,
    run: (product) =>
      withConnections(product, async (connections) => {
        const results: BrakeFigures[] = []
        for (let round = 1; round <= options.rounds; round++) {
          const figures = await measureBrake(product, connections, options.executions)
          console.error(`round ${round}/${options.rounds}\n${formatBrake([figures])}`)
          results.push(figures)
        }
        return { results, aims: aimsOf(results), text: formatBrake(results) }
      }),
  }
}

async function measureBrake(
  product: Product,
  { database, redis, postgres }: Connections,
  waiting: number,
): Promise<BrakeFigures> {
  await clearTraces(database, redis)
  const workspace = await createWorkspace(database, product, { name: 'Brake', rules: oneTask })
  const own = database.forWorkspace(workspace.id)
  const { id: ruleId } = await own.rule.findFirstOrThrow()
  await insertWaiting(postgres, { workspaceId: workspace.id, ruleId, count: waiting })
  const callMs = await switchOff(workspace, ruleId)
  const calledAt = performance.now()
  const entry = await own.auditEntry.findFirstOrThrow({
    where: { action: 'rule.deactivated', subject: ruleId },
  })
  while ((await own.cancellation.count()) > 0) {
    if (performance.now() - calledAt > limitMs) throw new Error('The executions are still not cancelled')
    await delay(pollMs)
  }
  const restSeconds = (performance.now() - calledAt) / 1_000
  const left = await own.execution.count({ where: { status: { not: 'cancelled' } } })
  if (left > 0) throw new Error(`${left} executions are not cancelled`)
  const { cancelled } = entry.details as { cancelled: number }
  return { waiting, callMs, cancelledByCall: cancelled, restSeconds }
}

/** @returns milliseconds */
async function switchOff({ baseUrl, headers }: Workspace, ruleId: string): Promise<number> {
  const { 'content-type': _, ...others } = headers
  const startedAt = performance.now()
  const response = await fetch(`${baseUrl}${path}/${ruleId}/toggle`, { method: 'PATCH', headers: others })
  const text = await response.text()
  if (!response.ok) throw new Error(`The rule was not switched off: ${response.status} ${text}`)
  return performance.now() - startedAt
}
