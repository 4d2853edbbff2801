import { randomUUID } from 'node:crypto'
import { migrate } from '@automation/database'
import pg from 'pg'

/** A migrated database without rows and connections, where a server has one. */
const templateName = 'automation_template'

/**
 * Creates a new migrated database on a running server. A sweeper handles every event of its database, so tests that
 * start a sweeper must not share a database. The database is removed together with the server.
 */
export async function createPrivateDatabase(serverUrl: string): Promise<string> {
  const url = new URL(serverUrl)
  url.pathname = `/private_${randomUUID().replaceAll('-', '')}`
  const hasTemplate = await withClient(serverUrl, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [templateName])
    const template = rowCount === 0 ? '' : ` TEMPLATE ${templateName}`
    await client.query(`CREATE DATABASE ${url.pathname.slice(1)}${template}`)
    return rowCount !== 0
  })
  if (!hasTemplate) await migrate(url.href)
  return url.href
}

/**
 * Keeps a copy of a migrated database for `createPrivateDatabase`: to migrate one takes a process ten times as
 * long as to copy a database.
 */
export async function keepTemplate(serverUrl: string): Promise<void> {
  const url = new URL(serverUrl)
  const name = url.pathname.slice(1)
  // While a database is copied, nobody may be connected to it.
  url.pathname = '/template1'
  await withClient(url.href, (client) => client.query(`CREATE DATABASE ${templateName} TEMPLATE ${name}`))
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
