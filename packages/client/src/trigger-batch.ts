import type { BatchAnswer, BatchEvent, BatchEventToPost, BatchResult, EventType } from './api.js'
import { ApiError } from './api-error.js'
import { BatchError, type BatchReport } from './batch-error.js'
import { newIdempotencyKey } from './idempotency-key.js'
import { pause } from './pause.js'
import { describeForeign } from './read-body.js'
import { backOff } from './retry.js'
import type { RequestOptions, Sender, SendOptions } from './send.js'
import { writeBody } from './write-body.js'

/** The maximum number of events in one request. */
const batchSize = 500
/** The API's default limit of a body is 1 MiB. If the API allows less, it says so with a 413. */
const usualMaxBytes = 1_000_000
/** The API takes one token for so many events. */
const eventsPerToken = 50

/** Posts any number of events of one type, and repeats those with an unknown outcome. @throws BatchError with the results so far */
export function triggerBatch(
  sender: Sender,
  eventType: EventType,
  events: BatchEvent[],
  options: RequestOptions = {},
): Promise<BatchReport<BatchEvent>> {
  const name = 'POST /api/automation-rules/trigger/{eventType}/batch'
  const send: Send = (sent) => sender.send(name, { path: { eventType }, body: undefined }, sent)
  return new Batch(sender, send, events, options).post()
}

/** The same for events of any types. */
export function postBatch(
  sender: Sender,
  events: BatchEventToPost[],
  options: RequestOptions = {},
): Promise<BatchReport<BatchEventToPost>> {
  const send: Send = (sent) => sender.send('POST /api/events/batch', { body: undefined }, sent)
  return new Batch(sender, send, events, options).post()
}

type Send = (options: SendOptions) => Promise<{ status: number; headers: Headers; body: BatchAnswer }>

interface Part {
  from: number
  /** The events as JSON. */
  texts: string[]
  bytes: number
}

class Batch<Event extends { data: object; idempotencyKey?: string }> {
  readonly #sender: Sender
  readonly #send: Send
  readonly #options: RequestOptions
  readonly #events: (Event & { idempotencyKey: string })[]
  readonly #results: BatchResult[] = []
  #maxBytes = usualMaxBytes

  constructor(sender: Sender, send: Send, events: Event[], options: RequestOptions) {
    this.#sender = sender
    this.#send = send
    this.#options = options
    this.#events = events.map((event) => ({
      ...event,
      idempotencyKey: event.idempotencyKey ?? newIdempotencyKey(),
    }))
  }

  async post(): Promise<BatchReport<Event>> {
    try {
      for (let from = 0; from < this.#events.length; ) from += await this.#postFrom(from)
    } catch (cause) {
      throw new BatchError(cause, this.#report())
    }
    return this.#report()
  }

  /** Posts the next part. @returns the number of events that it settled: none if the part has to be smaller */
  async #postFrom(from: number): Promise<number> {
    const part = this.#cut(from)
    const { length } = part.texts
    try {
      await this.#postPart(part)
      return length
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 413) throw error
      if (length > 1) {
        this.#maxBytes = Math.floor(part.bytes / 2)
        return 0
      }
      const errors = [{ field: `events[${from}]`, message: error.message }]
      this.#results[from] = { status: 'refused', errors }
      return 1
    }
  }

  /** As many events as one request may have, and at least one. */
  #cut(from: number): Part {
    const part: Part = { from, texts: [], bytes: '{"events":[]}'.length }
    for (const event of this.#events.slice(from, from + batchSize)) {
      const text = writeBody(event)
      const bytes = new TextEncoder().encode(text).length + ','.length
      if (part.texts.length > 0 && part.bytes + bytes > this.#maxBytes) break
      part.texts.push(text)
      part.bytes += bytes
    }
    return part
  }

  async #postPart({ from, texts }: Part): Promise<void> {
    const { retries = this.#sender.retries, signal } = this.#options
    let open = texts.map((_, index) => index)
    for (let failures = 0; ; ) {
      const answered = await this.#ask(open.map((index) => texts[index]))
      open.forEach((index, position) => {
        this.#results[from + index] = atIndex(answered[position] as BatchResult, from + index)
      })
      open = open.filter((index) => this.#results[from + index]?.status === 'failed')
      if (open.length === 0 || ++failures > retries) return
      await pause(backOff(failures), signal)
    }
  }

  async #ask(texts: (string | undefined)[]): Promise<BatchResult[]> {
    const { status, headers, body } = await this.#send({
      ...this.#options,
      rawBody: `{"events":[${texts.join()}]}`,
      // Each event has its own key.
      isRepeatable: true,
      tokens: Math.ceil(texts.length / eventsPerToken),
    })
    const { results } = body
    const isComplete = Array.isArray(results) && results.length === texts.length && results.every(isResult)
    if (!isComplete) throw new ApiError(describeForeign({ status, headers }), status)
    return results
  }

  #report(): BatchReport<Event> {
    const results = this.#events.map(({ idempotencyKey }, index) => ({
      ...(this.#results[index] ?? notSent),
      idempotencyKey,
    }))
    return {
      accepted: results.filter(({ status }) => status === 'accepted').length,
      results,
      remaining: this.#events.filter((_, index) => results[index]?.status === 'failed'),
    }
  }
}

const notSent: BatchResult = { status: 'failed', error: 'Not sent, or without a response' }

function isResult(result: unknown): result is BatchResult {
  return typeof (result as Partial<BatchResult> | null)?.status === 'string'
}

/** The API counts within its request: the fault of `events[2]` may be that of event 502 here. */
function atIndex(result: BatchResult, index: number): BatchResult {
  if (result.errors === undefined) return result
  const errors = result.errors.map(({ field, message }) => ({
    field: field.replace(/^events\[\d+\]/, `events[${index}]`),
    message,
  }))
  return { ...result, errors }
}
