import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What the load generator is asked: the same request again and again, or each one a webhook of its own. */
export interface LoadOrder {
  /** Connections are shared out to them. */
  origins: string[]
  path: string
  headers: Record<string, string>
  /** undefined for a GET. */
  payload?: string
  /** `whsec_…`: each request gets a new id, its time and its signature. */
  signingSecret?: string
  expectedStatus: number
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  /** Until the last answer, so a little more than was asked for. */
  elapsedSeconds: number
  p50Ms: number
  p99Ms: number
}

const entry = fileURLToPath(new URL('./load-process.js', import.meta.url))

export type Load = ReturnType<typeof startLoad>

/** Starts a load generator; its connections stay open from one run to the next. */
export function startLoad(order: Omit<LoadOrder, 'seconds'>) {
  const child = fork(entry, { execArgv: [] })
  const ended = once(child, 'exit')

  return {
    /** @throws when a request was not answered with the expected status */
    async run(seconds: number): Promise<LoadResult> {
      child.send({ ...order, seconds } satisfies LoadOrder)
      const failed = ended.then(() => {
        throw new Error('The load generator has ended; what it met stands above.')
      })
      const [result] = await Promise.race([once(child, 'message'), failed])
      return result as LoadResult
    },
    async stop(): Promise<void> {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
