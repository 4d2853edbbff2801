import { type FairQueue, type Owned, ownerOf } from '@automation/admission'
import type { Database } from '@automation/database'
import { noteCrash, withdrawCrash } from '@automation/ledger'
import { untilPostgresIsBack } from '../executions/until-postgres-is-back.js'

interface Isolated extends Owned {
  id: string
}

/**
 * Isolates poison events. When a worker ends, any of a hundred events that it ran may have ended it. Each of them runs alone from
 * then on, after its crash was counted in advance: an innocent event gets done, and a poison event takes down no other work.
 *
 *   crash ─▶ isolated ─(loaded, rehearsed where a worker has ended so, and run alone)─▶ done
 *                └─ fifth crash ─▶ quarantined: done, without executions, and presented as such
 *
 * @param onQuarantine is called for each event that is quarantined
 * @returns a function that runs an isolated event alone, in turns with those of other workspaces, unless it is quarantined or done
 */
export function createIsolation(database: Database, line: FairQueue, onQuarantine = () => {}) {
  return (
    { id: eventId, ...owned }: Isolated,
    run: (isToBeRehearsed: boolean) => Promise<void>,
  ): Promise<void> =>
    line.run(ownerOf(owned), async () => {
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
