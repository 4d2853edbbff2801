import { createKeyedMutex, type Database } from '@automation/database'
import { noteCrash, withdrawCrash } from '@automation/ledger'
import { untilPostgresIsBack } from '../calls/until-postgres-is-back.js'

/**
 * Isolates poison events. When a worker ends, any of a hundred events that it ran may have ended it. Each of them runs alone from
 * then on, after its crash was counted in advance: an innocent event gets done, and a poison event takes down no other work.
 *
 *   crash ─▶ isolated ─(loaded, rehearsed where a worker has ended so, and run alone)─▶ done
 *                └─ third crash ─▶ quarantined: done, without executions, and presented as such
 *
 * @param onQuarantine is called for each event that is quarantined
 * @returns a function that runs an isolated event after those before it, unless the event is quarantined or done
 */
export function createIsolation(database: Database, onQuarantine = () => {}) {
  const serialize = createKeyedMutex()

  return (eventId: string, run: (isToBeRehearsed: boolean) => Promise<void>): Promise<void> =>
    serialize('isolated', async () => {
      const verdict = await noteCrash(database, eventId)
      if (verdict === 'quarantined') onQuarantine()
      if (verdict !== 'run' && verdict !== 'rehearse') return
      await run(verdict === 'rehearse').catch(async (error) => {
        // A worker that can tell that the run failed was not ended by it.
        await untilPostgresIsBack(() => withdrawCrash(database, eventId)).catch(() => {})
        throw error
      })
    })
}
