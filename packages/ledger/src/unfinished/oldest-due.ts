import type { Database } from '@automation/database'
import { firstIdOf, readClock, timeOf } from '@automation/database'
import { countReads, readsOfEvents, readsOfExecutions } from './count-reads.js'
import { LowWaterMark } from './low-water-mark.js'

/** The result of a statement that always returns one row. */
interface Found {
  /** null where no row was found */
  dueSince: Date | null
  read: number
}

const firstUndone = countReads(
  readsOfEvents,
  'found.*',
  `
    SELECT id, coalesce(unparked_at, accepted_at) AS "dueSince" FROM events
    WHERE before.read >= 0 AND done_at IS NULL AND parked IS NULL AND id >= $1::uuid AND id < $2::uuid
    ORDER BY id LIMIT 1`,
)

/** Creates the mark of events that are not done, in the order of their ids. */
export function markEvents(database: Database): LowWaterMark {
  return new LowWaterMark(async (from, to) => {
    const bounds = [firstIdOf(Math.max(0, from)), firstIdOf(to)]
    const [found] = await database.run<Found & { id: string }>('find_first_undone', firstUndone, bounds)
    const first = found?.dueSince && { position: timeOf(found.id), dueSince: found.dueSince.getTime() }
    return { first: first || undefined, read: found?.read ?? 0 }
  })
}

const firstDue = countReads(
  readsOfExecutions,
  'found.*',
  `
    SELECT due_at AS "dueSince" FROM executions
    WHERE before.read >= 0 AND due_at <= now() AND parked IS NULL
      AND due_at >= to_timestamp($1::float8 / 1000) AND due_at < to_timestamp($2::float8 / 1000)
    ORDER BY due_at, id LIMIT 1`,
)

/** Creates the mark of executions that are due, in the order of that time. */
export function markExecutions(database: Database): LowWaterMark {
  return new LowWaterMark(async (from, to) => {
    const [found] = await database.run<Found>('find_first_due', firstDue, [from, to])
    const time = found?.dueSince?.getTime()
    return {
      first: time === undefined ? undefined : { position: time, dueSince: time },
      read: found?.read ?? 0,
    }
  })
}

/**
 * Creates a function that reads for how long (seconds) the oldest unfinished work has been due, 0 where there is none. An event that
 * is not done is due since it was accepted. An unfinished execution is due since its pause ended, or since its lease expired. What is parked is not
 * due, and is due again from the moment in which it is unparked.
 *
 * Probes, alerts and autoscalers use it: it grows only where workers are too few, away or stuck. Create the function once, since it
 * remembers how far it has read (low-water-mark.ts).
 */
export function createOldestDue(database: Database): () => Promise<number> {
  const marks = [markEvents(database), markExecutions(database)]
  let reading: Promise<number> | undefined

  return () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(): Promise<number> {
    const now = await readClock(database)
    const oldest = await Promise.all(marks.map((mark) => mark.find(now)))
    const dueSince = Math.min(...oldest.map((found) => found?.dueSince ?? now))
    return Math.max(0, now - dueSince) / 1_000
  }
}
