import type {
  EventPage,
  EventSummary,
  EventsReplayed,
  EventsToReplay,
  Matched,
  TriggerResult,
} from './api.js'
import type { Inputs } from './operation.js'
import { Pages } from './pages.js'
import { preferring, type Run, type RunOptions, tellRun } from './run.js'
import type { RequestOptions, Sender } from './send.js'
import { type WaitOptions, waitUntil } from './wait-until.js'

type EventQuery = NonNullable<Inputs<'GET /api/events'>['query']>

export class Events {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first. */
  list(query: EventQuery = {}, options?: RequestOptions): Pages<EventSummary, EventPage> {
    return new Pages(
      (cursor) => this.#sender.ask('GET /api/events', { query: { ...query, ...cursor } }, options),
      (page) => page.events,
    )
  }

  /** The event and what came of it. */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/events/{id}', { path: { id } }, options)
  }

  /** Waits until all of its runs are finished, or it is given up: `status` is `done` or `quarantined`. */
  waitUntilDone(id: string, options?: WaitOptions) {
    return waitUntil(
      (signal) => this.get(id, signal),
      ({ status }) => status === 'done' || status === 'quarantined',
      options,
    )
  }

  /** Posts it again: its data, and the rules as they are now. */
  async replay(id: string, options: RunOptions = {}): Promise<Run<TriggerResult>> {
    const name = 'POST /api/events/{id}/replay'
    return tellRun<TriggerResult>(await this.#sender.send(name, { path: { id } }, preferring(options)))
  }

  /** Posts those that a filter names again, the oldest first, at most 1000 a call. Counts them alone unless `dryRun` is false. */
  replayMany(body: EventsToReplay, options?: RequestOptions): Promise<Matched | EventsReplayed> {
    return this.#sender.ask('POST /api/events/replay', { body }, options)
  }
}
