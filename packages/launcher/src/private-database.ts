import { randomUUID } from 'node:crypto'
import { migrate } from '@automation/database'
import pg from 'pg'

/**
 * A migrated database of its own on a running server. A sweeper looks after every event of its database, so tests
 * that start one must not share theirs. It goes with the server.
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
