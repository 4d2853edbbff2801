import type { Database } from '@automation/database'
import { createCachedReading, type Metrics } from '@automation/process/telemetry'

/**
 * Registers the size of the database, which grows with what customers store. Postgres adds up the sizes of its files: once a minute at most,
 * and only when Prometheus scrapes.
 */
export function registerSizeMetrics(metrics: Metrics, findDatabase: () => Database): void {
  const read = createCachedReading(
    async () => {
      const [found] = await findDatabase().run<{ bytes: number }>(
        'read_database_size',
        'SELECT pg_database_size(current_database())::float8 AS bytes',
        [],
      )
      return found?.bytes ?? Number.NaN
    },
    { keepMs: 60_000, timeoutMs: 5_000, unknown: Number.NaN },
  )
  metrics.gauge(
    'automation_database_bytes',
    'Size of the database on the disk of Postgres, indexes included; NaN if Postgres does not respond',
    read,
  )
}
