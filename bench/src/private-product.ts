import { mkdir } from 'node:fs/promises'
import { makeTemporaryDirectory, type Product, type ProductOptions, startProduct } from '@automation/launcher'
import type { Options } from './options.js'
import { countStatements, writeStatements } from './profile/statements.js'
import { summarizeProfiles } from './profile/summarize-profiles.js'

type Parts = Pick<ProductOptions, 'apis' | 'workers' | 'databaseUrl' | 'redisUrl' | 'env'>

/** Runs something on a private product with Postgres and Redis on disk, and removes it afterwards. */
export async function runOnProduct<Result>(
  options: Options,
  parts: Parts,
  run: (product: Product) => Promise<Result>,
): Promise<Result> {
  const { profile } = options
  if (profile !== undefined) await mkdir(profile, { recursive: true })
  const directory = await makeTemporaryDirectory()
  try {
    const product = await start(options, parts, directory.path)
    try {
      const result = await run(product)
      if (profile !== undefined && product.postgres)
        await writeStatements(product, `${profile}/statements.txt`)
      return result
    } finally {
      await product.stop()
      if (profile !== undefined) await summarizeProfiles(profile)
    }
  } finally {
    await directory.remove()
  }
}

async function start(options: Options, parts: Parts, directory: string): Promise<Product> {
  const { apis = 1, workers = 1 } = parts
  const env = { ...productEnvironment(options), ...parts.env }
  const common = { directory, durable: true, ...parts, env }
  if (options.profile === undefined || parts.databaseUrl !== undefined) return startProduct(common)
  const product = await startProduct({ ...common, apis: 0, workers: 0 })
  await countStatements(product)
  for (let started = 0; started < apis; started++) await product.startApi()
  for (let started = 0; started < workers; started++) await product.startWorker()
  return product
}

function productEnvironment({ profile }: Options): Record<string, string> {
  const unlimited = '1000000000/1000000000'
  const limits = {
    RATE_LIMIT_ANONYMOUS: unlimited,
    RATE_LIMIT_AUTHENTICATED: unlimited,
    RATE_LIMIT_ENTERPRISE: unlimited,
  }
  const profiler = { NODE_OPTIONS: `--import=${new URL('./profile/profile-process.js', import.meta.url)}` }
  return {
    LOG_LEVEL: 'warn',
    // The inserted history is up to a month old.
    RETENTION_DAYS: '0',
    ...limits,
    ...(profile === undefined ? {} : { ...profiler, PROFILE_DIR: profile }),
  }
}
