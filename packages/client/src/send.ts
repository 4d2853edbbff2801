import { keyedOperations } from './api.js'
import { ApiError } from './api-error.js'
import { attempt } from './attempt.js'
import { newIdempotencyKey } from './idempotency-key.js'
import { type AnswerOf, type Inputs, type LooseInputs, type OperationName, writeUrl } from './operation.js'
import { Pace } from './pace.js'
import { Pages } from './pages.js'
import { pause } from './pause.js'
import { type RateLimit, readRateLimit } from './rate-limit.js'
import { readResponseBody } from './read-body.js'
import { RetryPolicy } from './retry.js'
import { checkRetries, checkTimeout, within } from './within.js'
import { writeBody } from './write-body.js'

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the call and its waits. `AbortSignal.timeout(5_000)` limits the whole call. */
  signal?: AbortSignal | undefined
  /** Timeout of one attempt, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined
  /** Maximum number of retries, instead of the client's `retries`. */
  retries?: number | undefined
  /** Gets the headers of the response: an `etag` for `ifTag` of a later change, for example. */
  onHeaders?: ((headers: Headers) => void) | undefined
}

/** Options of a call that takes effect once, however often it is sent. */
export interface KeyedOptions extends RequestOptions {
  /** 1 to 255 printable ASCII characters, kept for a day. Needed for a call that outlives this process. Default: a random key. */
  idempotencyKey?: string | undefined
}

export interface SendOptions extends KeyedOptions {
  /** Computed for each attempt. */
  headers?: () => Promise<Record<string, string>> | Record<string, string>
  /** How long the API waits for an outcome before it responds. */
  waitMs?: number
  /** Whether this request can be repeated safely, whatever its operation. */
  isRepeatable?: boolean
  /** Instead of JSON. */
  rawBody?: string | Uint8Array<ArrayBuffer>
  /** Other statuses that count as success. */
  alsoGood?: number[]
  /** The bucket that the request consumes from. Default: the caller's. Probes consume from none. */
  bucket?: 'caller' | 'webhooks' | 'none'
  /** The number of tokens that the request consumes. Default: 1. */
  tokens?: number
}

export interface SenderOptions {
  baseUrl: string
  fetch: typeof fetch
  timeoutMs: number
  retries: number
  keepsPace: boolean
  /** The headers with the caller and its workspace. */
  identity: () => Promise<Record<string, string>>
}

interface Request {
  url: string
  method: string
  key: string | undefined
  body: string | Uint8Array<ArrayBuffer> | undefined
  timeoutMs: number
  options: SendOptions
}

type PageOf<Name extends OperationName> = Extract<AnswerOf<Name>['body'], object>
type ItemOf<List> = List extends (infer Item)[] ? Item : never

/** Sends operations, and repeats them if that helps and is safe, until there is a response. */
export class Sender {
  readonly retries: number
  readonly #client: SenderOptions
  readonly #paces = { caller: new Pace(), webhooks: new Pace() }
  #rateLimit: RateLimit | undefined

  constructor(client: SenderOptions) {
    this.#client = client
    this.retries = client.retries
  }

  /** The rate limit in the last response that had one. */
  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit
  }

  /** The body of the response. */
  async ask<Name extends OperationName>(
    name: Name,
    inputs: Inputs<Name>,
    options?: SendOptions,
  ): Promise<AnswerOf<Name>['body']> {
    return (await this.send(name, inputs, options)).body
  }

  /** A list: each page has its items in one field. */
  list<Name extends OperationName, Field extends keyof PageOf<Name>>(
    name: Name,
    field: Field,
    inputs: Inputs<Name>,
    options?: RequestOptions,
  ): Pages<ItemOf<PageOf<Name>[Field]>, PageOf<Name>> {
    const { query }: LooseInputs = inputs
    return new Pages(
      (cursor) =>
        this.ask(name, { ...inputs, query: { ...query, ...cursor } }, options) as Promise<PageOf<Name>>,
      (page) => page[field] as ItemOf<PageOf<Name>[Field]>[],
    )
  }

  async send<Name extends OperationName>(
    name: Name,
    inputs: Inputs<Name>,
    options: SendOptions = {},
  ): Promise<AnswerOf<Name>> {
    return (await this.#sendUntilAnswered(name, inputs, options)) as never
  }

  async #sendUntilAnswered(name: OperationName, inputs: LooseInputs, options: SendOptions) {
    const { retries = this.retries, timeoutMs: attemptMs = this.#client.timeoutMs } = options
    checkTimeout(attemptMs)
    checkRetries(retries)
    const timeoutMs = attemptMs + (options.waitMs ?? 0)
    const [method, path] = name.split(' ') as [string, string]
    const isKeyed = keyedOperations.has(name)
    // The caller would rely on it.
    if (options.idempotencyKey !== undefined && !isKeyed)
      throw new TypeError(`${name} accepts no idempotencyKey`)
    const key = isKeyed ? (options.idempotencyKey ?? newIdempotencyKey()) : undefined
    const body = options.rawBody ?? (inputs.body === undefined ? undefined : writeBody(inputs.body))
    const isRepeatable = options.isRepeatable ?? (key !== undefined || /GET|DELETE/.test(method))
    const url = this.#client.baseUrl + writeUrl(path, inputs)
    const request: Request = { url, method, key, body, timeoutMs, options }
    const retryPolicy = new RetryPolicy({
      method,
      isKeyed: key !== undefined,
      isRepeatable,
      retries,
      timeoutMs,
    })
    while (true) {
      const headers = await this.#writeHeaders(request)
      try {
        return await this.#sendOnce(request, headers)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const waitMs = retryPolicy.nextDelay(error)
        if (waitMs === undefined) return gone
        await pause(waitMs, options.signal)
      }
    }
  }

  /** @throws what the token function throws, or ApiError if it takes too long: in neither case is the request repeated */
  async #writeHeaders({ key, body, timeoutMs, options }: Request): Promise<Headers> {
    const late = () => new ApiError(`No token within ${timeoutMs} ms`, 0)
    return within({ timeoutMs, signal: options.signal, late }, async () => {
      return new Headers({
        accept: 'application/json',
        ...(await this.#client.identity()),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(await options.headers?.()),
      })
    })
  }

  async #sendOnce({ url, method, body, timeoutMs, options }: Request, headers: Headers) {
    const { signal, alsoGood = [], bucket = 'caller', tokens = 1 } = options
    const pace = this.#client.keepsPace && bucket !== 'none' ? this.#paces[bucket] : undefined
    const init: RequestInit = { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) }
    await pace?.enter(tokens, signal)
    let told: RateLimit | undefined | 'no response' = 'no response'
    try {
      const arrival = await attempt({ fetch: this.#client.fetch, url, init, timeoutMs, signal })
      told = readRateLimit(arrival.headers)
      this.#rateLimit = told ?? this.#rateLimit
      const { status } = arrival
      const answer = readResponseBody(
        alsoGood.includes(status) ? { ...arrival, status: 200 } : arrival,
        method,
      )
      options.onHeaders?.(arrival.headers)
      return { status, headers: arrival.headers, body: answer }
    } finally {
      pace?.leave(tokens, told)
    }
  }
}

/** The response to a deletion. */
const gone = { status: 204, headers: new Headers(), body: undefined }
