import { createBatcher, createReadBatcher, type Database } from '@automation/database'
import {
  acceptEvents,
  acceptOnce,
  type CarriedEvent,
  findReceipts,
  type NewEvent,
  type NewReceipt,
  type OnceOnly,
  type StoredReceipt,
} from '@automation/ledger'
import type { DueExecution, EventQueue } from './event-queue.js'
import type { QueuedEvent } from './share-jobs.js'

/** How many jobs are added after one change: it may publish to 20 subscriptions for 1,000 rules, and a job takes 0.1 ms. */
const maxPublished = 500
/** What one commit takes. Its events are one JSON text, which is in memory here and in Postgres. */
const limits = {
  maxWeight: 8_388_608,
  weigh: ({ events }: Input) => {
    let bytes = 0
    for (const event of events) bytes += event.bytes ?? 0
    return bytes
  },
  /** How long (ms) an event may wait for the commits before it. */
  timeoutMs: 5_000,
  /** Less than the pause of what comes before it (shared-buckets.ts in apps/api), so that requests which come together wait once. */
  pauseMs: 4,
}

/** What routes see of the inbox; tracing puts another one in front of it. */
export type Inbox = Pick<
  BatchingInbox,
  'accept' | 'acceptAll' | 'acceptOnce' | 'acceptWebhook' | 'resume' | 'publish' | 'close'
>

/** What one caller wants to have accepted. */
interface Input {
  events: NewEvent[]
  /** The API instance on which the caller waits. */
  replyTo: string | undefined
}

/**
 * The only entrance for events: first the committed row, then the job that points at it. Callers of the same moment share a
 * commit, and their events share jobs.
 *
 *   accept ──▶ row committed (now it is accepted) ──▶ job added ┄┄(the queue lost it)┄┄▶ the sweeper adds it again
 */
export class BatchingInbox {
  readonly #queue: EventQueue
  readonly #onCommit: (events: number, seconds: number) => void
  readonly #commit: (input: Input & { receipt: NewReceipt | undefined }) => Promise<boolean>
  readonly #commitOnce: (input: Input & OnceOnly) => Promise<boolean>
  readonly #findReceipt: (receipt: NewReceipt) => Promise<StoredReceipt | undefined>
  /** Jobs that are being added. */
  readonly #adding = new Set<Promise<void>>()

  /** @param onCommit is called after each commit with the number of accepted events and its duration */
  constructor(
    database: Database,
    queue: EventQueue,
    onCommit: (events: number, seconds: number) => void = () => {},
  ) {
    this.#queue = queue
    this.#onCommit = onCommit
    this.#commit = createBatcher<Input & { receipt: NewReceipt | undefined }, boolean>(
      (inputs) =>
        this.#carry(inputs, (carried) =>
          acceptEvents(
            database,
            inputs.map(({ receipt }, index) => ({ receipt, carried: carried[index] ?? [] })),
          ),
        ),
      limits,
    )
    this.#commitOnce = createBatcher<Input & OnceOnly, boolean>(
      (inputs) =>
        this.#carry(inputs, (carried) =>
          acceptOnce(
            database,
            inputs.map(({ request, event, answer }, index) => {
              const jobId = carried[index]?.[0]?.jobId ?? null
              return { request, event, jobId, answer }
            }),
          ),
        ),
      limits,
    )
    this.#findReceipt = createReadBatcher((receipts) => findReceipts(database, receipts))
  }

  /**
   * Resolves when the event is committed; its job follows at once but is not waited for.
   *
   * @param replyTo the API instance on which a caller waits
   * @throws what Postgres throws: the event is then not accepted, or its acceptance is unknown
   */
  async accept(event: NewEvent, replyTo?: string): Promise<void> {
    await this.#commit({ events: [event], receipt: undefined, replyTo })
  }

  /** The same for several events: all of them are accepted, or none. */
  async acceptAll(events: NewEvent[]): Promise<void> {
    await this.#commit({ events, receipt: undefined, replyTo: undefined })
  }

  /**
   * Accepts the event of a request that may come again, unless its key is taken.
   *
   * @returns whether it was accepted now
   */
  acceptOnce({ request, event, answer }: OnceOnly, replyTo?: string): Promise<boolean> {
    return this.#commitOnce({ request, event, answer, events: [event], replyTo })
  }

  /**
   * Accepts the events of a webhook with its receipt, once however often it is delivered.
   *
   * @returns the receipt of this delivery, or that of the first one
   */
  async acceptWebhook(
    receipt: NewReceipt,
    events: NewEvent[],
  ): Promise<StoredReceipt & { isFirst: boolean }> {
    const isFirst = await this.#commit({ receipt, events, replyTo: undefined })
    if (isFirst) return { id: receipt.id, bodyHash: receipt.bodyHash, foundBy: 'id', isFirst }
    const known = await this.#findReceipt(receipt)
    // The receipt that stood in the way was removed for its age meanwhile: nothing stands in the way now.
    return known === undefined ? this.acceptWebhook(receipt, events) : { ...known, isFirst }
  }

  /** Adds the job of an execution that another statement made due. */
  resume(execution: DueExecution): void {
    this.#track(this.#queue.addDue(execution))
  }

  /** Adds jobs for events that another statement committed, such as those for subscriptions; the sweeper adds the rest. */
  publish(events: QueuedEvent[]): void {
    for (const event of events.slice(0, maxPublished)) this.#track(this.#queue.addCaused([event]))
  }

  /** Waits for the jobs that are being added. */
  async close(): Promise<void> {
    await Promise.all(this.#adding)
  }

  /**
   * Commits events, each with the id of the job that will carry it, then adds the jobs of those that were accepted.
   *
   * @param commit returns for each caller whether its events were accepted now
   */
  async #carry(
    inputs: Input[],
    commit: (carried: CarriedEvent[][]) => Promise<boolean[]>,
  ): Promise<boolean[]> {
    const jobs = this.#queue.share(
      inputs.flatMap(({ events, replyTo }) => events.map((event) => ({ event, replyTo }))),
    )
    const jobIds = new Map(jobs.flatMap((job) => job.events.map(({ id }) => [id, job.id] as const)))
    const carry = (event: NewEvent): CarriedEvent => {
      const jobId = jobIds.get(event.id)
      return { event, jobId: jobId === undefined || jobId === event.id ? null : jobId }
    }
    const startedAt = performance.now()
    const accepted = await commit(inputs.map(({ events }) => events.map(carry)))
    const known = new Set<QueuedEvent>(inputs.flatMap(({ events }, index) => (accepted[index] ? [] : events)))
    this.#onCommit(jobIds.size - known.size, (performance.now() - startedAt) / 1_000)
    for (const job of jobs) {
      const events = known.size === 0 ? job.events : job.events.filter((event) => !known.has(event))
      if (events.length > 0) this.#track(this.#queue.add({ ...job, events }))
    }
    return accepted
  }

  /** Without Redis the event stays a row that is not done, and the sweeper looks for those. */
  #track(job: Promise<void>): void {
    const added = job.catch(() => {})
    this.#adding.add(added)
    void added.then(() => this.#adding.delete(added))
  }
}
