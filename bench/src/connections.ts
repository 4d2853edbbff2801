import { type Database, openDatabase } from '@automation/database'
import type { Product } from '@automation/launcher'
import { Redis } from 'ioredis'
import pg from 'pg'

/** What a benchmark needs beside the product's own processes. */
export interface Connections {
  database: Database
  redis: Redis
  /** A connection without timeouts. */
  postgres: pg.Client
}

/** Opens connections to the servers of a product, and closes them in every case. */
export async function withConnections<Outcome>(
  { databaseUrl, redisUrl }: Pick<Product, 'databaseUrl' | 'redisUrl'>,
  run: (connections: Connections) => Promise<Outcome>,
): Promise<Outcome> {
  return withPostgres(databaseUrl, async (postgres) => {
    const database = openDatabase(databaseUrl, 2)
    const redis = new Redis(redisUrl)
    try {
      return await run({ database, redis, postgres })
    } finally {
      redis.disconnect()
      await database.close()
    }
  })
}

export async function withPostgres<Outcome>(
  url: string,
  run: (postgres: pg.Client) => Promise<Outcome>,
): Promise<Outcome> {
  const postgres = new pg.Client({ connectionString: url })
  await postgres.connect()
  try {
    return await run(postgres)
  } finally {
    await postgres.end()
  }
}
