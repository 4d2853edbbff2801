import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ApiProcess, type Product, startNode } from '@automation/launcher'

const entries = {
  inline: fileURLToPath(new URL('./inline-process.js', import.meta.url)),
  bare: fileURLToPath(new URL('./bare-process.js', import.meta.url)),
  ingest: fileURLToPath(new URL('./ingest-process.js', import.meta.url)),
}

export type YardstickName = keyof typeof entries

/** Starts a yardstick on the product's Postgres and Redis, with its keys. */
export async function startYardstick(
  { databaseUrl, redisUrl, env, apis }: Product,
  name: YardstickName,
  own: Record<string, string> = {},
): Promise<ApiProcess> {
  const started = await startNode({
    name: `The yardstick "${name}"`,
    entry: entries[name],
    // A profile is for the product, not for its yardsticks.
    env: { ...env, NODE_OPTIONS: '', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ...own },
    log: `${dirname(apis[0]?.log ?? '')}/yardstick-${name}.log`,
  })
  return { ...started, baseUrl: `http://127.0.0.1:${started.port}` }
}
