import pg from 'pg'
import { nameSslMode } from './ssl-mode.js'

/** Opens a connection for what may take long, such as a change of tables: nothing ends its statements but Postgres' own settings. */
export async function openLong(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: nameSslMode(databaseUrl),
    connectionTimeoutMillis: 10_000,
    // Or it would wait for the response of a server that is gone.
    keepAlive: true,
    keepAliveInitialDelayMillis: 60_000,
  })
  // If the connection breaks, the statement that runs on it fails.
  client.on('error', () => {})
  await client.connect()
  return client
}
