import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@automation/database'

const pollMs = 20
const limitMs = 300_000

/**
 * Waits until every event is done. It looks for one unfinished event and does not count them: the newest is at the end of
 * its index, while repeated counts of a long backlog would add load to Postgres and so to the measurement.
 */
export function drainBacklog(database: Database): Promise<void> {
  return waitUntilNone('Event', async () => {
    const undone = await database.system.event.findFirst({
      where: { doneAt: null },
      orderBy: { id: 'desc' },
      select: { id: true },
    })
    return undone?.id
  })
}

/** @param findUndone the id of one that is not done */
export async function waitUntilNone(
  noun: string,
  findUndone: () => Promise<string | undefined>,
): Promise<void> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const undone = await findUndone()
    if (undone === undefined) return
    if (performance.now() > deadline) throw new Error(`${noun} ${undone} is still not done`)
    await delay(pollMs)
  }
}
