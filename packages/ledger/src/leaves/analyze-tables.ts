import { type Database, Prisma } from '@automation/database'
import { histories } from './histories.js'

const tables = Object.values(histories).flatMap((history) => history.tables.map(({ name }) => name))

/**
 * Looks at samples of the tables as wholes, for the planner, if that was done more than a day ago: autovacuum looks at their leaves alone. Before Postgres 18
 * it looks at the leaves, too.
 */
export async function analyzeTables({ system }: Pick<Database, 'system'>): Promise<void> {
  const stale = await system.$queryRaw<{ name: string; only: string }[]>(Prisma.sql`
    SELECT relname::text AS name, CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'ONLY' ELSE '' END AS only
    FROM pg_stat_all_tables
    WHERE relid = ANY (${tables}::text[]::regclass[]) AND coalesce(last_analyze, '-infinity') < now() - interval '1 day'`)
  for (const { name, only } of stale) await system.$executeRawUnsafe(`ANALYZE ${only} ${name}`)
}
