import { keyedOperations } from './api.js'
import { ApiError } from './api-error.js'
import { type Arrival, attempt, readBody } from './attempt.js'
import { newIdempotencyKey } from './idempotency-key.js'
import { type AnswerOf, type Inputs, type LooseInputs, type OperationName, writeUrl } from './operation.js'
import { pause } from './pause.js'
import { createPace, type RateLimit } from './rate-limit.js'
import { createJudge } from './retry.js'

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the call and its waits. */
  signal?: AbortSignal | undefined
  /** Timeout of one attempt, instead of the client's `timeoutMs`. */
  timeoutMs?: number | undefined
  /** Maximum number of retries, instead of the client's `retries`. */
  retries?: number | undefined
}

/** Options of a call that takes effect once, however often it is sent. */
export interface KeyedOptions extends RequestOptions {
  /** 1 to 255 printable ASCII characters, kept for a day. Needed for a call that outlives this process. Default: a random key. */
  idempotencyKey?: string | undefined
}

/** The destination of one client's operations. */
export interface Sender {
  send<Name extends OperationName>(
    name: Name,
    inputs: Inputs<Name>,
    options?: SendOptions,
  ): Promise<AnswerOf<Name>>
  /** The same, but returns the body only. */
  ask<Name extends OperationName>(
    name: Name,
    inputs: Inputs<Name>,
    options?: SendOptions,
  ): Promise<AnswerOf<Name>['body']>
  rateLimit(): RateLimit | undefined
  retries: number
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

/** Sends operations, and repeats them if that helps and is safe, until there is a response. */
export function createSender(client: SenderOptions): Sender {
  const pace = createPace(client.keepsPace)
  const sender: Sender = {
    async send(name, inputs, options = {}) {
      const arrival = await sendUntilAnswered(name, inputs, options)
      return arrival as never
    },
    async ask(name, inputs, options) {
      return (await sender.send(name, inputs, options)).body
    },
    rateLimit: pace.last,
    retries: client.retries,
  }
  return sender

  async function sendUntilAnswered(name: OperationName, inputs: LooseInputs, options: SendOptions) {
    const { signal, retries = client.retries } = options
    const timeoutMs = (options.timeoutMs ?? client.timeoutMs) + (options.waitMs ?? 0)
    const [method, path] = name.split(' ') as [string, string]
    const url = client.baseUrl + writeUrl(path, inputs)
    const key = keyedOperations.has(name) ? (options.idempotencyKey ?? newIdempotencyKey()) : undefined
    const isRepeatable = options.isRepeatable ?? (key !== undefined || /GET|PUT|DELETE/.test(method))
    const body = options.rawBody ?? (inputs.body === undefined ? undefined : JSON.stringify(inputs.body))
    const judge = createJudge({ method, isKeyed: key !== undefined, isRepeatable, retries, timeoutMs })

    while (true) {
      const headers = new Headers({
        accept: 'application/json',
        ...(await client.identity()),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(await options.headers?.()),
      })
      const init: RequestInit = {
        method,
        headers,
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
      }
      try {
        return await once({ url, init, timeoutMs, signal }, options.alsoGood)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const waitMs = judge(error)
        if (waitMs === undefined) return gone
        await pause(waitMs, signal)
      }
    }
  }

  async function once(request: Omit<Parameters<typeof attempt>[0], 'fetch'>, alsoGood: number[] = []) {
    await pace.enter(request.signal)
    let arrival: Arrival | undefined
    try {
      arrival = await attempt({ ...request, fetch: client.fetch })
    } finally {
      pace.leave(arrival?.headers)
    }
    const { status, headers } = arrival
    const body = readBody(alsoGood.includes(status) ? { ...arrival, status: 200 } : arrival)
    return { status, headers, body }
  }
}

/** The response to a deletion. */
const gone = { status: 204, headers: new Headers(), body: undefined }
