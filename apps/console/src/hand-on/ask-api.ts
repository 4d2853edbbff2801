import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Dispatcher, Pool } from 'undici'
import { Deadline } from './deadline.js'
import type { SlotLimits } from './slots.js'

/** Of the headers of a page only these reach the API: no cookie, no authorization and no forwarding header of others. */
const passed = [
  'accept',
  'accept-encoding',
  'content-type',
  'if-match',
  'idempotency-key',
  'prefer',
  'x-workspace-id',
] as const
/** Of the API's headers: it sets no cookies, and the others are matters of the console and of its connections. */
const dropped = [
  ...['set-cookie', 'www-authenticate'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'trailer', 'upgrade'],
]

/** Sends a sentence about a request that did not work, as who asked reads it: a script JSON, a person a page. */
export type Refuse = (reply: FastifyReply, status: number, sentence: string) => FastifyReply

/** Of scripts: there are too many requests at a time. */
export function refuseExcess(reply: FastifyReply, of: 'user' | 'address' | 'all'): FastifyReply {
  const error = of === 'all' ? 'The console is busy. Try again in a moment.' : 'Too many requests at a time'
  return reply
    .status(of === 'all' ? 503 : 429)
    .header('retry-after', '1')
    .send({ error })
}

export interface Call {
  request: FastifyRequest
  reply: FastifyReply
  path: string
  /** undefined: nobody is signed in. */
  bearer?: string
  /** The API may take its time: it waits for something. */
  isWaiting?: boolean
  /** The API says what may be kept of its response: of all others, nothing. */
  isCacheable?: boolean
  refuse: Refuse
  /** Is called before the response is sent, if the API refuses the bearer. */
  endSession?: () => void
}

/**
 * Opens connections to the API. @fastify/reply-from cannot abort a request: browsers that had left would hold all connections to a mute API.
 * The deadline of each request ends it: a timeout of the pool would not count what happens before it has a connection.
 */
export function openApi(apiUrl: string, { inAll }: SlotLimits): Pool {
  return new Pool(new URL(apiUrl).origin, { connections: inAll, headersTimeout: 0, bodyTimeout: 0 })
}

/** @returns the path of the API's URL, without a slash at its end */
export function prefixOf(apiUrl: string): string {
  return new URL(apiUrl).pathname.replace(/\/+$/, '')
}

/** Hands a request on, and its response back: 504 if the API does not respond in time, 503 if it is not available. */
export async function askApi(api: Pool, call: Call): Promise<FastifyReply> {
  const { request, reply, path, bearer, isWaiting = false, isCacheable = false, refuse } = call
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const deadline = new Deadline(reply, isRead && !isWaiting)
  const body = request.body as Dispatcher.DispatchOptions['body']
  try {
    const response = await api.request({
      path,
      method: request.method as Dispatcher.HttpMethod,
      headers: {
        ...keepPassed(request.headers, body !== undefined),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        'x-forwarded-for': request.ip,
      },
      body: body ?? null,
      signal: deadline.signal,
    })
    deadline.extend()
    if (response.statusCode === 401) call.endSession?.()
    // The rest of a body that the API does not want is not read.
    if (!request.raw.complete) reply.header('connection', 'close')
    return reply
      .status(response.statusCode)
      .headers(dropHeaders(response.headers, isCacheable))
      .send(response.body)
  } catch (error) {
    if (deadline.hasLeft) {
      request.log.debug({ err: error }, 'the browser disconnected')
      return reply.hijack()
    }
    request.log.warn({ err: error }, 'the API does not respond')
    reply.header('retry-after', '2')
    return refuse(reply, deadline.isOver ? 504 : 503, describe(deadline, isRead))
  }
}

function describe({ isOver }: Deadline, isRead: boolean): string {
  if (!isOver) return 'The API does not respond. Try again in a moment.'
  if (isRead) return 'The API did not respond in time. Try again in a moment.'
  return 'The API did not respond in time. The request may have taken effect: check before you try again.'
}

function keepPassed(headers: IncomingHttpHeaders, hasBody: boolean): Record<string, string> {
  const names = hasBody ? ['content-length', ...passed] : passed
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}

function dropHeaders(headers: IncomingHttpHeaders, isCacheable: boolean): IncomingHttpHeaders {
  const isKept = (name: string) => !dropped.includes(name) && (isCacheable || name !== 'cache-control')
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)))
}
