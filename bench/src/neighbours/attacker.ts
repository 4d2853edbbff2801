import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { Workspace } from '../workspace.js'

export const rulesPath = '/api/automation-rules'
export const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

const timeoutMs = 60_000
const maxUnderWay = 50

/** How many requests of an attack had a response of 2xx, of 4xx, and another one or none. */
export interface Responses {
  accepted: number
  refused: number
  failed: number
  /** Status and body of the first response of 4xx. */
  firstRefusal?: string
}

type Target = Pick<Workspace, 'baseUrl' | 'headers'>

/** One who attacks: it sends requests, and counts their responses. */
export class Attacker {
  readonly signal: AbortSignal
  readonly responses: Responses
  readonly #target: Target

  /** @param signal the end of the attack */
  constructor(
    target: Target,
    signal: AbortSignal,
    responses: Responses = { accepted: 0, refused: 0, failed: 0 },
  ) {
    this.#target = target
    this.signal = signal
    this.responses = responses
  }

  /** The same one in another workspace, or without a token. */
  in(target: Target): Attacker {
    return new Attacker(target, this.signal, this.responses)
  }

  /** Sends at a fixed pace until the end, whether or not there were responses, and at most 50 at a time. */
  async repeat(everyMs: number, send: (n: number) => Promise<unknown>): Promise<void> {
    const underWay = new Set<Promise<unknown>>()
    const startedAt = performance.now()
    for (let n = 0; !this.signal.aborted; n++) {
      if (underWay.size < maxUnderWay) {
        const sent = send(n)
        underWay.add(sent)
        void sent.then(() => underWay.delete(sent))
      }
      await delay(startedAt + (n + 1) * everyMs - performance.now())
    }
    await Promise.all(underWay)
  }

  async wait(): Promise<void> {
    await delay(timeoutMs, undefined, { signal: this.signal }).catch(() => {})
  }

  async post(path: string, body: object): Promise<void> {
    await this.send('POST', path, body)
  }

  /** Requests it several times on one connection, reads nothing, and holds the connection until the attack ends. */
  async requestUnread(path: string, times: number): Promise<void> {
    const { hostname, port } = new URL(this.#target.baseUrl)
    const socket = connect({ host: hostname, port: Number(port), signal: this.signal })
    socket.pause()
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(times))
    await new Promise((resolve) => socket.once('close', resolve))
  }

  /** Does not keep what it reads: some responses have many megabytes. */
  async send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<void> {
    const { baseUrl, headers } = this.#target
    try {
      const response = await request(`${baseUrl}${path}`, {
        method,
        headers: { ...headers, prefer: 'respond-async' },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const { statusCode, body: content } = response
      const name = nameOf(statusCode)
      this.responses[name]++
      if (name === 'refused') {
        const refusal = `${statusCode} ${await content.text()}`
        this.responses.firstRefusal ??= refusal
      } else await content.dump({ limit: Number.MAX_SAFE_INTEGER })
    } catch {
      this.responses.failed++
    }
  }
}

/** What is done before an attack begins, and counts as none of its requests. */
export async function prepareBy<Body>(
  { baseUrl, headers }: Target,
  path: string,
  body?: object,
): Promise<Body> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Body
}

function nameOf(status: number): 'accepted' | 'refused' | 'failed' {
  if (status >= 200 && status < 300) return 'accepted'
  return status >= 400 && status < 500 ? 'refused' : 'failed'
}
