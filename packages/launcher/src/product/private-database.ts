import { randomUUID } from 'node:crypto'
import { migrate } from '@automation/database'
import pg from 'pg'

/**
 * Creates a new migrated database on a running server. A sweeper handles every event of its database, so tests that
 * start a sweeper must not share a database. The database is removed together with the server.
 */
export async function createPrivateDatabase(serverUrl: string): Promise<string> {
  const name = `private_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name}`)
  } finally {
    await client.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await migrate(url.href)
  return url.href
}
