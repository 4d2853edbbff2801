import { setTimeout as delay } from 'node:timers/promises'
import { type Database, openDatabase } from '@automation/database'
import type { Product } from '@automation/launcher'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { ProductPlan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
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
    async run(product) {
      const database = openDatabase(product.databaseUrl, 2)
      const redis = new Redis(product.redisUrl)
      // A connection without timeouts.
      const postgres = new pg.Client({ connectionString: product.databaseUrl })
      await postgres.connect()
      try {
        const results: BrakeFigures[] = []
        for (let round = 1; round <= options.rounds; round++) {
          await clearTraces(database, redis)
          const figures = await measureBrake(product, database, postgres, options.executions)
          console.error(`round ${round}/${options.rounds}\n${formatBrake([figures])}`)
          results.push(figures)
        }
        return { results, aims: aimsOf(results), text: formatBrake(results) }
      } finally {
        await postgres.end()
        redis.disconnect()
        await database.close()
      }
    },
  }
}

async function measureBrake(
  product: Product,
  database: Database,
  postgres: pg.Client,
  waiting: number,
): Promise<BrakeFigures> {
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
