import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@automation/database'

const pollMs = 20
const limitMs = 300_000

/**
 * Waits until no event is left undone. It asks for one, not for their number: the newest is found at the end of its
 * index, while counting a long backlog again and again would be work that Postgres is then blamed for.
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
