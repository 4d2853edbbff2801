import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@automation/database'

const pollMs = 20
const limitMs = 300_000

/**
 * Waits until every event is done. It looks for one unfinished event and does not count them: the newest is at the end of
 * its index, while repeated counts of a long backlog would add load to Postgres and so to the measurement.
 */
export async function drainBacklog(database: Database): Promise<void> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const undone = await database.system.event.findFirst({
      where: { doneAt: null },
      orderBy: { id: 'desc' },
      select: { id: true },
    })
    if (undone === null) return
    if (performance.now() > deadline) throw new Error(`Event ${undone.id} is still not done`)
    await delay(pollMs)
  }
}
