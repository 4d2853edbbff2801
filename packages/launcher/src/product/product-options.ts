import type { ProgressStep } from '../progress.js'

export interface ProductOptions {
  /** Holds the data of Postgres and Redis, `mail/` and `logs/`. */
  directory: string
  apis?: number
  workers?: number
  ports?: { api?: number; postgres?: number; redis?: number }
  /** A running Postgres, instead of a private one. */
  databaseUrl?: string | undefined
  /** The directory of a stopped and migrated Postgres that the private one begins with, since to make one takes 3 s of CPU. */
  preparedPostgres?: string | undefined
  /** A running Redis, instead of a private one. */
  redisUrl?: string | undefined
  /** Whether data must survive a crash of the machine (Postgres) and a restart of the server (Redis). */
  durable: boolean
  /**
   * Added to the variables that the product sets itself, for APIs, workers and boards. The first process gets METRICS_PORT,
   * each further one the next port; 0 is any free port.
   */
  env?: Record<string, string>
  step?: ProgressStep
  /** Aborts the start between two steps; everything already started is stopped. */
  signal?: AbortSignal
}
