import { readdir, readFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { findSecrets } from './secrets.js'
import type { Site } from './site.js'

/** What was searched, and each place that has a secret. A search that does not even find the names of the credentials is a violation, too. */
export interface SecretSearch {
  searched: { tables: number; keys: number; files: number }
  violations: string[]
}

/** What rules and results show instead of a secret. */
const shown = '{{credentials.KEY}}'

/** Searches the tables, the keys of Redis, and all files that the processes and both servers have written. */
export async function checkSecrets(
  site: Pick<Site, 'query' | 'running' | 'directories'>,
): Promise<SecretSearch> {
  const search = new Search()
  await site.query('CHECKPOINT')
  const tables = await site.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  for (const { name } of tables)
    for (const { row } of await site.query<{ row: string }>(`SELECT one::text AS row FROM "${name}" one`))
      search.look(`the table ${name}`, row)
  const named = search.named
  const keys = await searchRedis(site.running.product.redisUrl, search)
  const { postgres } = site.running.product
  const directories = new Set([...site.directories, ...(postgres ? [postgres.directory] : [])])
  let files = 0
  for (const directory of directories) files += await searchFiles(directory, search)
  if (named < 2) search.violations.add('no rule or no result was searched')
  if (search.named === named) search.violations.add('no file of Postgres was searched')
  return { searched: { tables: tables.length, keys, files }, violations: [...search.violations] }
}

class Search {
  readonly violations = new Set<string>()
  /** How many of what was looked at had the name of a credential. */
  named = 0

  look(place: string, text: Buffer | string): void {
    if (text.includes(shown)) this.named++
    for (const form of findSecrets(text)) this.violations.add(`${place} has the secret ${form}`)
  }
}

async function searchRedis(url: string, search: Search): Promise<number> {
  const redis = new Redis(url)
  let keys = 0
  for await (const page of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
    for (const key of page.map(String)) {
      keys++
      search.look(`the key ${key}`, key + JSON.stringify(await readKey(redis, key)))
    }
  redis.disconnect()
  return keys
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key)
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1')
    case 'stream':
      return redis.xrange(key, '-', '+')
    default:
      return undefined
  }
}

/** The servers still run: files come and go. */
async function searchFiles(directory: string, search: Search): Promise<number> {
  let files = 0
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = `${entry.parentPath}/${entry.name}`
    const bytes = await readFile(path).catch(() => undefined)
    if (bytes === undefined) continue
    files++
    search.look(`the file ${path.slice(directory.length + 1)}`, bytes)
  }
  return files
}
