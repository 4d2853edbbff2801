import { type Database, groupCommit } from '@automation/database'
import { type Acceptance, commitAcceptances, type NewEvent, type NewReceipt } from './commit-acceptances.js'
import { commitOnce, type OnceOnly } from './commit-once.js'
import { findReceipts, type StoredReceipt } from './find-receipts.js'
import type { DueRun, EventQueue } from './queue.js'

export type Inbox = ReturnType<typeof openInbox>

/**
 * The one door for events: first the committed row, then the job that points at it.
 *
 *   accept ──▶ row committed (now it is accepted) ──▶ job added ┄┄(belt lost it)┄┄▶ sweeper adds it again
 */
export function openInbox(database: Database, queue: EventQueue) {
  const commit = groupCommit((acceptances: Acceptance[]) => commitAcceptances(database, acceptances))
  const once = groupCommit((wanted: OnceOnly[]) => commitOnce(database, wanted))
  const find = groupCommit((receipts: NewReceipt[]) => findReceipts(database, receipts))
  const adding = new Set<Promise<void>>()

  return {
    /**
     * Resolves when the event is committed; its job follows at once but is not waited for.
     *
     * @param replyTo the API instance on which a caller waits
     * @throws what Postgres throws: the event is then not accepted, or its acceptance is unknown
     */
    async accept(event: NewEvent, replyTo?: string): Promise<void> {
      await commit({ events: [event] })
      addJob(event, replyTo)
    },
    /**
     * The same for a request that may come again: the event is accepted unless its key is taken.
     *
     * @returns whether it was accepted now
     */
    async acceptOnce(wanted: OnceOnly, replyTo?: string): Promise<boolean> {
      const isFirst = await once(wanted)
      if (isFirst) addJob(wanted.event, replyTo)
      return isFirst
    },
    /**
     * The same for a webhook: its receipt and its events, once however often it is delivered.
     *
     * @returns the receipt that stands for it, this one or the first delivery's
     */
    async acceptWebhook(
      receipt: NewReceipt,
      events: NewEvent[],
    ): Promise<StoredReceipt & { isFirst: boolean }> {
      const isFirst = await commit({ receipt, events })
      if (isFirst) {
        for (const event of events) addJob(event)
        return { id: receipt.id, bodyHash: receipt.bodyHash, isFirst }
      }
      const known = await find(receipt)
      // Removed for its age since it stood in the way: nothing does now.
      return known === undefined ? this.acceptWebhook(receipt, events) : { ...known, isFirst }
    },
    /** Adds the job that goes on with an execution which was opened again. */
    resume: (run: DueRun): void => track(queue.addDue(run)),
    /** Waits for the jobs that are being added. */
    async close(): Promise<void> {
      await Promise.all(adding)
    },
  }

  function addJob(event: NewEvent, replyTo?: string): void {
    track(queue.add(event, replyTo))
  }

  /** Without Redis the event stays a row that is not done, which is just what the sweeper looks for. */
  function track(job: Promise<void>): void {
    const added = job.catch(() => {})
    adding.add(added)
    void added.then(() => adding.delete(added))
  }
}
