import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Waits } from '../statistics.js'

export interface LoadRequest {
  path: string
  headers: Record<string, string>
  /** The body; undefined for a GET. */
  payload?: string
}

/** The load: requests in turn, repeatedly. */
export interface LoadOrder {
  /** The connections are distributed among them. */
  origins: string[]
  requests: LoadRequest[]
  /** Each request is a webhook with an id, the current time and a signature. */
  signing?: {
    /** `whsec_…` */
    secret: string
    /** The number of ids that are repeated (`known-0` and so on); undefined: each id is new. */
    knownIds?: number
  }
  expectedStatus: number
  connections: number
  seconds: number
  /** An open loop, in which requests are due at this rate; undefined: a closed loop. */
  ratePerSecond?: number
}

export interface LoadResult {
  requests: number
  /** Until the last response, so a little longer than requested. */
  elapsedSeconds: number
  p50Ms: number
  p99Ms: number
}

export interface OpenLoadResult extends LoadResult {
  waits: Waits
  /** The waits of each ten seconds, in order. */
  windows: Waits[]
  /** Responses with another status, and connections that ended. */
  failures: number
  firstFailure: string | null
  /** Whether it ended early, because five seconds' worth of requests had no response. */
  isOverrun: boolean
  /** How late the latest request was sent. */
  latestMs: number
}

const entry = fileURLToPath(new URL('./load-process.js', import.meta.url))

export type Load = ReturnType<typeof startLoad>

/** Starts a load generator. Its connections stay open between loads. */
export function startLoad(order: Omit<LoadOrder, 'seconds' | 'ratePerSecond'>) {
  const child = fork(entry, { execArgv: [] })
  const ended = once(child, 'exit')

  async function send(load: LoadOrder): Promise<unknown> {
    child.send(load)
    const failed = ended.then(() => {
      throw new Error('The load generator has ended; its error is above.')
    })
    const [result] = await Promise.race([once(child, 'message'), failed])
    return result
  }

  return {
    /**
     * A closed loop.
     *
     * @throws if a response does not have the expected status
     */
    async run(seconds: number): Promise<LoadResult> {
      return (await send({ ...order, seconds })) as LoadResult
    },
    /** An open loop. It counts responses with another status. */
    async runOpen(seconds: number, ratePerSecond: number): Promise<OpenLoadResult> {
      return (await send({ ...order, seconds, ratePerSecond })) as OpenLoadResult
    },
    async stop(): Promise<void> {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
