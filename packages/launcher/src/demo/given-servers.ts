import pg from 'pg'
import { CannotStart } from '../cannot-start.js'

const connectTimeoutMs = 10_000
/** Any number that nothing else takes. */
const lockId = 72_707_371

/** The mark is a domain: a role that may migrate may create one, and `migrate` refuses a database that has tables already. */
const readStateSql = `
  SELECT to_regtype('automation_demo') IS NOT NULL AS "isMarked",
         EXISTS (
           SELECT FROM pg_class c
           JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
             AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
             AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
         ) AS "isUsed"`

/**
 * Claims the database of DATABASE_URL for the demo: one that is empty gets the demo's mark.
 *
 * @returns host and name of the database, for the user
 * @throws CannotStart if the database is out of reach, or has tables and no mark: it may be in production, and the demo
 * would migrate it, write into it and do its work
 */
export async function claimDatabase(url: string): Promise<string> {
  const client = connectTo(url)
  const name = `${client.host}:${client.port}/${client.database ?? ''}`
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockId])
    const { rows } = await client.query<{ isMarked: boolean; isUsed: boolean }>(readStateSql)
    if (rows[0]?.isMarked !== true) {
      if (rows[0]?.isUsed !== false) throw new CannotStart(describeRefusal(name))
      await client.query('CREATE DOMAIN automation_demo AS text')
    }
    await client.query('COMMIT')
    return name
  } catch (error) {
    if (error instanceof CannotStart) throw error
    throw new CannotStart(`DATABASE_URL (${name}) cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  } finally {
    await client.end().catch(() => {})
  }
}

function describeRefusal(name: string): string {
  return (
    `DATABASE_URL (${name}) has tables that the demo did not create, so npm start leaves it alone: unset DATABASE_URL or ` +
    'name an empty database; docs/operate/processes.md ("By hand") says how to run the apps against a database in production'
  )
}

function connectTo(url: string): pg.Client {
  try {
    // Else it takes any text for the name of a database.
    if (!/^postgres(ql)?:\/\//.test(url)) throw new Error('no URL of Postgres')
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
    client.on('error', () => {})
    return client
  } catch (error) {
    throw new CannotStart('DATABASE_URL is not a URL like postgresql://user:password@host:5432/name', {
      cause: error,
    })
  }
}
