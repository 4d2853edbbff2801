import { type Database, openDatabase } from '@automation/database'
import { makeTemporaryDirectory, type Product, type ProductOptions, startProduct } from '@automation/launcher'
import { Redis } from 'ioredis'
import type pg from 'pg'
import type { Options } from './benchmark.js'
import { Profiles } from './profile/profiles.js'
import { withPostgres } from './with-postgres.js'

type Parts = Pick<ProductOptions, 'apis' | 'workers' | 'databaseUrl' | 'redisUrl' | 'env'>

/** A product, and what a benchmark needs besides its processes. */
export interface Stage {
  product: Product
  database: Database
  redis: Redis
  /** A connection without timeouts. */
  postgres: pg.Client
  profiles: Profiles
}

/** Runs something on a private product with Postgres and Redis on disk, and removes it afterwards. */
export async function runOnProduct<Result>(
  { profile }: Pick<Options, 'profile'>,
  parts: Parts,
  run: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const profiles = new Profiles(profile)
  const directory = await makeTemporaryDirectory()
  try {
    const env = { ...productEnvironment, ...(await profiles.prepare()), ...parts.env }
    const { apis = 1, workers = 1 } = parts
    const product = await startProduct({
      ...parts,
      ...{ directory: directory.path, durable: true, env },
      ...(profile !== undefined && { apis: 0, workers: 0 }),
    })
    try {
      if (profile !== undefined) {
        await profiles.countStatements(product)
        for (let started = 0; started < apis; started++) await product.startApi()
        for (let started = 0; started < workers; started++) await product.startWorker()
      }
      return await connect(product, (connections) => run({ product, profiles, ...connections }))
    } finally {
      await product.stop()
    }
  } finally {
    await directory.remove()
  }
}

/** Opens connections to the servers of a product, and closes them in every case. */
async function connect<Result>(
  { databaseUrl, redisUrl }: Product,
  run: (connections: Pick<Stage, 'database' | 'redis' | 'postgres'>) => Promise<Result>,
): Promise<Result> {
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

const unlimited = '1000000000/1000000000'
const productEnvironment = {
  LOG_LEVEL: 'warn',
  // The inserted history is up to a month old.
  RETENTION_DAYS: '0',
  RATE_LIMIT_ANONYMOUS: unlimited,
  RATE_LIMIT_AUTHENTICATED: unlimited,
  RATE_LIMIT_ENTERPRISE: unlimited,
}
