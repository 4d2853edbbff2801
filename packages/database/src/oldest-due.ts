import type { Database } from './open.js'

/**
 * For how long (seconds) the oldest work has been due that nobody has done: an event that is not done, since it was accepted;
 * an execution that is not finished, since the end of its pause, or of the lease that nobody has renewed. 0 where there is none.
 *
 * What probes, alerts and autoscalers go by: it grows where workers are too few, away or stuck, and with nothing else.
 */
export async function findOldestDueSeconds(database: Database): Promise<number> {
  const [found] = await database.run<{ seconds: number }>('find_oldest_due', statement, [])
  return found?.seconds ?? 0
}

// Each by the first entry of its partial index.
const statement = `
  SELECT greatest(0, extract(epoch FROM now() - least(
    (SELECT accepted_at FROM events WHERE done_at IS NULL ORDER BY id LIMIT 1),
    (SELECT due_at FROM executions WHERE due_at IS NOT NULL ORDER BY due_at, id LIMIT 1)
  )))::float8 AS seconds`
