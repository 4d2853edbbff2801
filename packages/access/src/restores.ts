import { type Database, postgresNow } from '@automation/database'

/** A restore whose workers the operator has not started yet. */
export interface OpenRestore {
  /** ISO 8601. What is in the database was committed until then. */
  asOf: string
  markedAt: string
}

/** The oldest state that the database was brought back to counts. */
const findOpenRestoreSql = `
  SELECT min(as_of) AS "asOf", min(marked_at) AS "markedAt" FROM restores WHERE started_at IS NULL HAVING count(*) > 0`

/** Finds whether workers are paused since a restore. There are as many rows as there were restores. */
export async function findOpenRestore(database: Pick<Database, 'run'>): Promise<OpenRestore | undefined> {
  const [found] = await database.run<{ asOf: Date; markedAt: Date }>(
    'find_open_restore',
    findOpenRestoreSql,
    [],
  )
  return found && { asOf: found.asOf.toISOString(), markedAt: found.markedAt.toISOString() }
}

const readSweepStartSql = `
  SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now, EXISTS (SELECT FROM restores WHERE started_at IS NULL) AS "isPaused"`

/** Reads the time of Postgres (epoch ms), and with it whether the database was restored under a worker that runs. */
export async function readSweepStart(
  database: Pick<Database, 'run'>,
): Promise<{ now: number; isPaused: boolean }> {
  const [start] = await database.run<{ now: number; isPaused: boolean }>(
    'read_sweep_start',
    readSweepStartSql,
    [],
  )
  if (start === undefined) throw new Error('Postgres returned no time')
  return start
}

/** Pauses the workers of a database that was just restored, and may have the tables of an older version. @param asOf when its backup was taken (ISO 8601) */
export async function markRestored({ system }: Database, asOf: string): Promise<void> {
  await system.$executeRaw`INSERT INTO restores (as_of) VALUES (${asOf}::timestamptz)`
}

/** Ends the pause. @returns how many restores waited for that: 0 where the workers were not paused */
export async function startAfterRestore({ system }: Database, actor: string): Promise<number> {
  const data = { startedAt: new Date(postgresNow()), startedBy: actor }
  return (await system.restore.updateMany({ where: { startedAt: null }, data })).count
}
