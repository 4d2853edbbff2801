import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ApiProcess, type Product, startNode } from '@automation/launcher'

const entries = {
  inline: 'inline-process.js',
  bare: 'bare-process.js',
  plain: 'plain-process.js',
  grouping: 'grouping-process.js',
}

export type YardstickName = keyof typeof entries

/**
 * Starts yardsticks on the product's Postgres and Redis, with its keys, and stops them in every case.
 *
 * @param environments the variables of each, in addition to those of the product
 */
export async function startYardsticks<Name extends YardstickName, Outcome>(
  product: Product,
  environments: Record<Name, Record<string, string>>,
  run: (yardsticks: Record<Name, ApiProcess>) => Promise<Outcome>,
): Promise<Outcome> {
  const started: Partial<Record<Name, ApiProcess>> = {}
  try {
    for (const name in environments) started[name] = await start(product, name, environments[name])
    return await run(started as Record<Name, ApiProcess>)
  } finally {
    for (const name in started) await started[name]?.stop()
  }
}

async function start(
  { databaseUrl, redisUrl, env, apis }: Product,
  name: YardstickName,
  own: Record<string, string>,
): Promise<ApiProcess> {
  const started = await startNode({
    name: `The yardstick "${name}"`,
    entry: fileURLToPath(new URL(entries[name], import.meta.url)),
    env: { ...env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ...own },
    log: `${dirname(apis[0]?.log ?? '')}/yardstick-${name}.log`,
  })
  return { ...started, baseUrl: `http://127.0.0.1:${started.port}` }
}
