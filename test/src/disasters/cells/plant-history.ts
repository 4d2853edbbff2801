import type { RunningProduct } from '../../fixtures/product.js'

/** Of events and executions; tasks have it as their title. */
export const historyType = 'HISTORY'

const hourMs = 60 * 60 * 1_000

/** Stores events that were done in the last 20 days, each with an execution and a task: the history of a workspace that has been there for long. */
export async function plantHistory({ database }: RunningProduct, id: string, count: number): Promise<void> {
  const run = (text: string) => database.system.$executeRawUnsafe(text)
  const newest = Date.now() - 3 * hourMs
  const past = `(
    SELECT n, to_timestamp(ms / 1000.0) AS at, lpad(to_hex(ms), 12, '0') AS hex FROM (
      SELECT n, ${newest} - ${20 * 24 * hourMs}::bigint * n / ${count} AS ms FROM generate_series(1, ${count}) AS n) AS times) AS past`
  const idOf = (kind: number) => `(hex || '${kind}000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`
  await run(`
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ${idOf(7)}, '${id}', '${historyType}', json_build_object('name', NULL, 'text', repeat('lorem ipsum ', 20)), at, at FROM ${past}`)
  await run(`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, finished_at)
    SELECT ${idOf(8)}, '${id}', ${idOf(7)}, '${historyType}', '${id}', 1, 'succeeded', '[{"action":"CREATE_TASK","status":"success"}]', at, at FROM ${past}`)
  await run(`
    INSERT INTO tasks (id, workspace_id, execution_id, action_index, rule_id, title, priority, created_at)
    SELECT ${idOf(8)}, '${id}', ${idOf(8)}, 0, '${id}', '${historyType}', 'low', at FROM ${past}`)
}

/** @returns of how many events the history is whole */
export async function countHistory({ database }: RunningProduct, id: string): Promise<number> {
  const [found] = await database.system.$queryRawUnsafe<{ count: number }[]>(`
    SELECT count(*)::int AS count FROM events
    JOIN executions ON executions.event_id = events.id AND executions.workspace_id = events.workspace_id
    JOIN tasks ON tasks.execution_id = executions.id AND tasks.workspace_id = events.workspace_id
    WHERE events.workspace_id = '${id}' AND events.type = '${historyType}'`)
  return found?.count ?? 0
}
