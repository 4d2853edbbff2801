import type { Database } from '@automation/database'
import { findKeys } from '@automation/queue'
import { CommandError } from '../command-error.js'
import { readRedis } from '../config.js'
import { maskControls } from '../format.js'

/** How this process, and what it starts, is listed by Postgres. */
export const applicationName = `automation-restore-${process.pid}`

const stateSql = `
  SELECT current_database() AS name, current_setting('server_version_num')::int AS server,
    ARRAY(
      SELECT relname::text FROM pg_class
      WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
      ORDER BY pg_relation_size(oid) DESC, relname) AS tables`

const othersSql = `
  SELECT pid, usename AS user, coalesce(host(client_addr), 'a socket') AS address, application_name AS name
  FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> $1 AND pid <> pg_backend_pid()
  ORDER BY backend_start`

/**
 * @returns the version of the server
 * @throws CommandError that names the tables, or the other connections, of a database that is not empty or in use
 */
export async function checkTarget(database: Database): Promise<number> {
  const [state] = await database.run<{ name: string; server: number; tables: string[] }>(
    'read_restore_target',
    stateSql,
    [],
  )
  const { name, server, tables } = state as NonNullable<typeof state>
  const faults: string[] = []
  if (tables.length > 0)
    faults.push(
      `has ${tables.length} tables (${tables.slice(0, 3).join(', ')}${tables.length > 3 ? ', …' : ''})`,
    )
  const others = await findOthers(database)
  if (others.length > 0) faults.push(`is in use by ${others.join(', ')}`)
  if (faults.length === 0) return server
  throw new CommandError(
    maskControls(
      `The database ${name} ${faults.join(' and ')}: nothing was changed. A restore takes an empty database that nobody is connected to. Stop API, workers, board and console, create a database, and name it in DATABASE_URL.`,
    ),
  )
}

/** In words. */
export async function findOthers(database: Database): Promise<string[]> {
  const others = await database.run<{ pid: number; user: string; address: string; name: string }>(
    'find_other_connections',
    othersSql,
    [applicationName],
  )
  return others.map(
    ({ pid, user, address, name }) =>
      `process ${pid} of Postgres (${user} from ${address}${name === '' ? '' : `, ${name}`})`,
  )
}

/**
 * @returns what nobody could look at, in a sentence
 * @throws CommandError if Redis has keys of the service
 */
export async function checkRedis(): Promise<string | undefined> {
  const redis = readRedis()
  const needed = 'Redis must be empty before the service starts'
  if (redis === undefined) return `${needed}. It was not looked at, because REDIS_URL is not set.`
  const found = await findKeys(redis.redisUrl, redis.prefix)
  if (typeof found === 'string') return `${needed}. It was not looked at: ${found}.`
  if (found.length === 0) return undefined
  throw new CommandError(
    maskControls(
      `Redis has keys of the service (${found[0]}): nothing was changed. It may know of webhooks later than the backup, and would respond deduplicated to them. Stop all processes, and empty it: redis-cli -u "$REDIS_URL" flushall, if nothing else uses this Redis. With Sentinels, in a cluster or beside something else: docs/operate/backup.md, Restore.`,
    ),
  )
}
