import pg from 'pg'

/** A connection without timeouts, which is closed in every case. */
export async function withPostgres<Result>(
  url: string,
  run: (postgres: pg.Client) => Promise<Result>,
): Promise<Result> {
  const postgres = new pg.Client({ connectionString: url })
  await postgres.connect()
  try {
    return await run(postgres)
  } finally {
    await postgres.end()
  }
}
