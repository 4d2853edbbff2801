import { type Database, groupCommit } from '@automation/database'
import { insertEvents, type NewEvent } from './insert-events.js'
import type { EventQueue } from './queue.js'

export type Inbox = ReturnType<typeof openInbox>

/**
 * The one door for events: first the committed row, then the job that points at it.
 *
 *   accept ──▶ row committed (now it is accepted) ──▶ job added ┄┄(belt lost it)┄┄▶ sweeper adds it again
 */
export function openInbox(database: Database, queue: EventQueue) {
  const commit = groupCommit(async (events: NewEvent[]) => {
    await insertEvents(database, events)
    return events
  })
  const adding = new Set<Promise<void>>()

  return {
    /**
     * Resolves when the event is committed; its job follows at once but is not waited for.
     *
     * @param replyTo the API instance on which a caller waits
     * @throws what Postgres throws: the event is then not accepted, or its acceptance is unknown
     */
    async accept(event: NewEvent, replyTo?: string): Promise<void> {
      await commit(event)
      // Without Redis the event stays a row that is not done, which is just what the sweeper looks for.
      const added = queue.add(event, replyTo).catch(() => {})
      adding.add(added)
      void added.then(() => adding.delete(added))
    },
    /** Waits for the jobs that are being added. */
    async close(): Promise<void> {
      await Promise.all(adding)
    },
  }
}
