import { type Database, groupCommit } from '@automation/database'
import { type CarriedEvent, commitAcceptances, type NewEvent, type NewReceipt } from './commit-acceptances.js'
import { commitOnce, type OnceOnly } from './commit-once.js'
import { findReceipts, type StoredReceipt } from './find-receipts.js'
import type { DueRun, EventQueue } from './queue.js'
import type { QueuedEvent } from './share-jobs.js'

export type Inbox = ReturnType<typeof openInbox>

/** Of one change. It may tell 20 subscriptions of 1,000 rules, and adding a job takes a tenth of a millisecond. */
const maxAnnounced = 500

/** What one caller wants to have accepted. */
interface Wanted {
  events: NewEvent[]
  /** The API instance on which it waits. */
  replyTo: string | undefined
}

/** How long (ms) an event may wait for the commits before it. */
const patienceMs = 5_000

/**
 * The one door for events: first the committed row, then the job that points at it. Callers of the same moment share a
 * commit, and their events share jobs.
 *
 *   accept ──▶ row committed (now it is accepted) ──▶ job added ┄┄(belt lost it)┄┄▶ sweeper adds it again
 *
 * @param onCommit is told of each commit how many events it accepted, and how long it took
 */
export function openInbox(
  database: Database,
  queue: EventQueue,
  onCommit: (events: number, seconds: number) => void = () => {},
) {
  const commit = groupCommit(
    (wanted: (Wanted & { receipt: NewReceipt | undefined })[]) =>
      carry(wanted, (carried) =>
        commitAcceptances(
          database,
          wanted.map(({ receipt }, index) => ({ receipt, carried: carried[index] ?? [] })),
        ),
      ),
    undefined,
    patienceMs,
  )
  const once = groupCommit(
    (wanted: (Wanted & OnceOnly)[]) =>
      carry(wanted, (carried) =>
        commitOnce(
          database,
          wanted.map(({ request, event, answer }, index) => {
            const jobId = carried[index]?.[0]?.jobId ?? null
            return { request, event, jobId, answer }
          }),
        ),
      ),
    undefined,
    patienceMs,
  )
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
      await commit({ events: [event], receipt: undefined, replyTo })
    },
    /**
     * The same for a request that may come again: the event is accepted unless its key is taken.
     *
     * @returns whether it was accepted now
     */
    acceptOnce: (wanted: OnceOnly, replyTo?: string): Promise<boolean> =>
      once({
        request: wanted.request,
        event: wanted.event,
        answer: wanted.answer,
        events: [wanted.event],
        replyTo,
      }),
    /**
     * The same for a webhook: its receipt and its events, once however often it is delivered.
     *
     * @returns the receipt that stands for it, this one or the first delivery's
     */
    async acceptWebhook(
      receipt: NewReceipt,
      events: NewEvent[],
    ): Promise<StoredReceipt & { isFirst: boolean }> {
      const isFirst = await commit({ receipt, events, replyTo: undefined })
      if (isFirst) return { id: receipt.id, bodyHash: receipt.bodyHash, isFirst }
      const known = await find(receipt)
      // Removed for its age since it stood in the way: nothing does now.
      return known === undefined ? this.acceptWebhook(receipt, events) : { ...known, isFirst }
    },
    /** Adds the job that goes on with an execution which was opened again. */
    resume: (run: DueRun): void => track(queue.addDue(run)),
    /** Adds the jobs of events that were committed elsewhere, such as those for subscriptions; of many, the first ones. */
    announce(events: QueuedEvent[]): void {
      for (const event of events.slice(0, maxAnnounced)) track(queue.addAlone(event))
    },
    /** Waits for the jobs that are being added. */
    async close(): Promise<void> {
      await Promise.all(adding)
    },
  }

  /**
   * Commits events with a note of the job that carries each, then adds the jobs of those that were accepted.
   *
   * @param write answers for each caller whether what it wanted was accepted now
   */
  async function carry(
    wanted: Wanted[],
    write: (carried: CarriedEvent[][]) => Promise<boolean[]>,
  ): Promise<boolean[]> {
    const jobs = queue.share(
      wanted.flatMap(({ events, replyTo }) => events.map((event) => ({ event, replyTo }))),
    )
    const jobIds = new Map(jobs.flatMap((job) => job.events.map(({ id }) => [id, job.id] as const)))
    const noteJob = (event: NewEvent): CarriedEvent => {
      const jobId = jobIds.get(event.id)
      return { event, jobId: jobId === undefined || jobId === event.id ? null : jobId }
    }
    const begunAt = performance.now()
    const accepted = await write(wanted.map(({ events }) => events.map(noteJob)))
    const isKnown = new Set(wanted.flatMap(({ events }, index) => (accepted[index] ? [] : events)))
    onCommit(jobIds.size - isKnown.size, (performance.now() - begunAt) / 1_000)
    for (const job of jobs) {
      job.events = job.events.filter((event) => !isKnown.has(event as NewEvent))
      if (job.events.length > 0) track(queue.add(job))
    }
    return accepted
  }

  /** Without Redis the event stays a row that is not done, which is just what the sweeper looks for. */
  function track(job: Promise<void>): void {
    const added = job.catch(() => {})
    adding.add(added)
    void added.then(() => adding.delete(added))
  }
}
