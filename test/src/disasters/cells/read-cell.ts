import { setTimeout as delay } from 'node:timers/promises'
import { countJobs, openQueueReader } from '@automation/queue'
import type { RunningProduct } from '../../fixtures/product.js'
import type { Tick } from '../../storm/schedules/check-ticks.js'
import { historyType } from './plant-history.js'

/** What a cell has of a workspace, without its history from before. */
export interface CellRows {
  events: { name: string; id: string }[]
  tasks: { name: string; id: string }[]
  /** Statuses. */
  executions: string[]
  executionIds: string[]
  taskIds: string[]
  doneEvents: string[]
}

export async function readCell({ database }: RunningProduct, workspaceId: string): Promise<CellRows> {
  const read = <Row>(text: string) => database.system.$queryRawUnsafe<Row[]>(text)
  const where = `WHERE workspace_id = '${workspaceId}'`
  const events = await read<{ name: string; id: string; isDone: boolean }>(
    `SELECT coalesce(data->>'name', '') AS name, id, done_at IS NOT NULL AS "isDone" FROM events ${where} AND type <> '${historyType}'`,
  )
  const executions = await read<{ status: string; id: string }>(
    `SELECT status::text, id FROM executions ${where} AND event_type <> '${historyType}'`,
  )
  const tasks = await read<{ name: string; id: string }>(
    `SELECT title AS name, id FROM tasks ${where} AND title <> '${historyType}'`,
  )
  return {
    events,
    tasks,
    executions: executions.map(({ status }) => status),
    executionIds: executions.map(({ id }) => id),
    taskIds: tasks.map(({ id }) => id),
    doneEvents: events.filter(({ isDone }) => isDone).map(({ id }) => id),
  }
}

/** But for what has waited since before the load, and waits for good. */
export async function countOpen({ database }: RunningProduct, workspaceId: string): Promise<number> {
  const [row] = await database.system.$queryRawUnsafe<{ open: number }[]>(`
    SELECT ((SELECT count(*) FROM events WHERE workspace_id = '${workspaceId}' AND done_at IS NULL)
          + (SELECT count(*) FROM executions WHERE workspace_id = '${workspaceId}' AND due_at < now() + interval '10 minutes'))::int AS open`)
  return row?.open ?? 0
}

export function readTicks({ database }: RunningProduct, ruleId: string): Promise<Tick[]> {
  return database.system.$queryRawUnsafe<Tick[]>(`
    SELECT events.id, addressee_id AS "ruleId", data, (extract(epoch FROM accepted_at) * 1000)::float8 AS "acceptedAt",
           (SELECT count(*)::int FROM executions WHERE event_id = events.id) AS executions,
           (SELECT count(*)::int FROM tasks JOIN executions ON executions.id = execution_id WHERE event_id = events.id) AS tasks
    FROM events WHERE addressee_id = '${ruleId}' AND done_at IS NOT NULL ORDER BY data ->> 'scheduledAt'`)
}

/** Of a cell that has nothing left to do but its schedules: each of its queues is empty between two ticks. */
export async function countJobsOf({ product }: RunningProduct): Promise<number> {
  const reader = openQueueReader(product.redisUrl, '{automation}')
  try {
    let left = 0
    for (let looks = 0; looks < 100; looks++) {
      const counts = await countJobs((await reader.findQueues()) ?? [], [
        'waiting',
        'prioritized',
        'active',
        'delayed',
      ])
      left = Object.values(counts).reduce((sum, count) => sum + count, 0)
      if (left === 0) break
      await delay(100)
    }
    return left
  } finally {
    await reader.close()
  }
}
