import { FairSlots } from '@automation/admission'
import type { Database } from '@automation/database'
import { noteCrash, withdrawCrash } from '@automation/ledger'
import { untilPostgresIsBack } from '../calls/until-postgres-is-back.js'

/** How long (ms) an isolated event may wait for its turn. */
const lineTimeoutMs = 600_000

interface Isolated {
  id: string
  workspaceId: string
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
export function createIsolation(database: Database, onQuarantine = () => {}) {
  const slots = new FairSlots({
    total: 1,
    perOwner: 1,
    waitingPerOwner: Number.POSITIVE_INFINITY,
    timeoutMs: lineTimeoutMs,
  })

  return (
    { id: eventId, workspaceId }: Isolated,
    run: (isToBeRehearsed: boolean) => Promise<void>,
  ): Promise<void> =>
    slots.run(workspaceId, async () => {
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
