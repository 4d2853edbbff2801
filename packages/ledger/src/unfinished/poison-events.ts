import type { Database } from '@automation/database'

/** An event is quarantined when this many workers have ended while they ran it. */
const maxCrashes = 3

// The crash that brought the event here is counted with the first run.
const noteCrashSql = `
  UPDATE events SET
    crashes = crashes + 1,
    quarantined = crashes + 1 >= $2::int,
    done_at = CASE WHEN crashes + 1 >= $2::int THEN now() END
  WHERE id = $1::uuid AND done_at IS NULL
  RETURNING quarantined`

/**
 * Counts a crash in advance, before an event is run that may be what ended its last worker. At the third one the event is
 * quarantined: marked done, without executions.
 *
 * @returns what to do with the event; `done` where another delivery has finished it
 */
export async function noteCrash(
  database: Database,
  eventId: string,
): Promise<'run' | 'quarantined' | 'done'> {
  const [noted] = await database.run<{ quarantined: boolean }>('note_crash', noteCrashSql, [
    eventId,
    maxCrashes,
  ])
  if (noted === undefined) return 'done'
  return noted.quarantined ? 'quarantined' : 'run'
}

const withdrawCrashSql = `
  UPDATE events SET crashes = crashes - 1
  WHERE id = $1::uuid AND done_at IS NULL AND crashes > 0`

/** Withdraws a crash that was counted in advance: the worker is alive, so the event did not end it. */
export async function withdrawCrash(database: Database, eventId: string): Promise<void> {
  await database.run('withdraw_crash', withdrawCrashSql, [eventId])
}
