import { type Database, takeTurns } from '@automation/database'
import { untilPostgresIsBack } from './until-postgres-is-back.js'

/** So many workers may end while they have an event. */
const maxCrashes = 3

/**
 * An event whose worker ended may be what ended it, or one of a hundred others that were under way. Suspects run one at a
 * time, after their taking-up was committed: an innocent one is done then, and a guilty one gives itself away, by taking
 * down nobody's work but its own.
 *
 *   crash ─▶ suspect ─(alone)─▶ done
 *               └─ crash, until it were three ─▶ quarantined: done, without executions, and told as such
 *
 * @param onQuarantine is told of each that is given up
 */
export function createSuspects(database: Database, onQuarantine = () => {}) {
  const inTurn = takeTurns()

  /** Runs a suspect when those before it are through; not at all where it is quarantined by now. */
  return (eventId: string, run: () => Promise<void>): Promise<void> =>
    inTurn('suspects', async () => {
      const [noted] = await database.run<{ quarantined: boolean }>('note_suspect', statement, [eventId])
      if (noted?.quarantined) onQuarantine()
      if (noted?.quarantined !== false) return
      await run().catch(async (error) => {
        await clear(eventId)
        throw error
      })
    })

  /** Whoever can tell that its run has failed was not ended by it. */
  async function clear(eventId: string): Promise<void> {
    await untilPostgresIsBack(() => database.run('clear_suspect', clearance, [eventId])).catch(() => {})
  }
}

// The crash that made it a suspect is the first one.
const statement = `
  UPDATE events SET
    crashes = crashes + 1,
    quarantined = crashes + 1 >= ${maxCrashes},
    done_at = CASE WHEN crashes + 1 >= ${maxCrashes} THEN now() END
  WHERE id = $1 AND done_at IS NULL
  RETURNING quarantined`

const clearance = `
  UPDATE events SET crashes = crashes - 1
  WHERE id = $1 AND done_at IS NULL AND crashes > 0`
