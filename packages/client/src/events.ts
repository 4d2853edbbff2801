import type {
  BatchEventToPost,
  EventPage,
  EventResult,
  EventSearch,
  EventSummary,
  EventsReplayed,
  EventsToReplay,
  EventType,
  EventWhy,
  FoundEvents,
  Matched,
  RuleWhy,
  TriggerResult,
} from './api.js'
import type { BatchReport } from './batch-error.js'
import type { Inputs } from './operation.js'
import { Pages } from './pages.js'
import { preferring, type Run, type RunOptions, toRun } from './run.js'
import type { RequestOptions, Sender } from './send.js'
import { postBatch } from './trigger-batch.js'
import { type WaitOptions, waitUntil } from './wait-until.js'

type EventQuery = NonNullable<Inputs<'GET /api/events'>['query']>

export interface ReplayOptions extends RunOptions {
  /** Ids of the rules that it is for: the others are left out. Default: all active rules of its type. */
  rules?: string[] | undefined
}

type WhyQuery = NonNullable<Inputs<'GET /api/events/{id}/why'>['query']>

export class Events {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Posts an event. Every active rule for its type runs. */
  async send(eventType: EventType, data: object, options: RunOptions = {}): Promise<Run<EventResult>> {
    const body = { eventType, data: data as Record<string, unknown> }
    const answer = await this.#sender.send('POST /api/events', { query: {}, body }, preferring(options))
    return toRun<EventResult>(answer)
  }

  /**
   * Posts any number of events of any types. Each has its own result, in the order of the events. The call does not wait for outcomes.
   *
   * @throws BatchError if it ends early, with the results so far. To continue, call it with the error's `remaining`.
   */
  sendMany(events: BatchEventToPost[], options?: RequestOptions): Promise<BatchReport<BatchEventToPost>> {
    return postBatch(this.#sender, events, options)
  }

  /** The newest events of a type with their data, to try a rule on. */
  samples(type: EventType, query: { limit?: number; ruleId?: string } = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/events/samples', { query: { eventType: type, ...query } }, options)
  }

  /** How many events are newer than one, and the newest of all. With `wait` (seconds, at most 25) it waits for one that is newer. */
  newest(query: { after?: string; wait?: number } = {}, options?: RequestOptions) {
    return this.#sender.ask(
      'GET /api/events/newest',
      { query },
      { ...options, waitMs: (query.wait ?? 0) * 1_000 },
    )
  }

  /** Newest first. */
  list(query: EventQuery = {}, options?: RequestOptions): Pages<EventSummary, EventPage> {
    return this.#sender.list('GET /api/events', 'events', { query }, options)
  }

  /** The event and its outcome. */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/events/{id}', { path: { id } }, options)
  }

  /** Why each rule matched the event, or not: those that matched first, then the nearest. */
  why(id: string, query: WhyQuery = {}, options?: RequestOptions): Pages<RuleWhy, EventWhy> {
    return this.#sender.list('GET /api/events/{id}/why', 'rules', { path: { id }, query }, options)
  }

  /** The events whose data fulfils conditions, newest first. */
  search(body: EventSearch, options: RequestOptions = {}): Pages<EventSummary, FoundEvents> {
    return new Pages(
      (cursor) =>
        // It changes nothing, so it may be repeated.
        this.#sender.ask(
          'POST /api/events/search',
          { body: { ...body, ...cursor } },
          { isRepeatable: true, ...options },
        ),
      (page) => page.events,
    )
  }

  /** Waits until all executions of the event are finished or the event is given up: `status` is `done` or `quarantined`. */
  waitUntilDone(id: string, options?: WaitOptions) {
    return waitUntil(
      (signal) => this.get(id, signal),
      ({ status }) => status === 'done' || status === 'quarantined',
      options,
    )
  }

  /** Replays the event: the same data, with the current rules. */
  async replay(id: string, { rules, ...options }: ReplayOptions = {}): Promise<Run<TriggerResult>> {
    const name = 'POST /api/events/{id}/replay'
    const request = { path: { id }, body: { ...(rules && { rules }) } }
    return toRun<TriggerResult>(await this.#sender.send(name, request, preferring(options)))
  }

  /** Replays the events that match a filter, oldest first, at most 1000 per call. Only counts them unless `dryRun` is false. */
  replayMany(body: EventsToReplay, options?: RequestOptions): Promise<Matched | EventsReplayed> {
    return this.#sender.ask('POST /api/events/replay', { body }, options)
  }
}
