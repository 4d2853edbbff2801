import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The load: the same request repeatedly, or a new webhook each time. */
export interface LoadOrder {
  /** The connections are distributed among them. */
  origins: string[]
  path: string
  headers: Record<string, string>
  /** The body; undefined for a GET. */
  payload?: string
  /** `whsec_…`: each request gets a new id, the current time and a signature. */
  signingSecret?: string
  expectedStatus: number
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  /** Until the last response, so a little longer than requested. */
  elapsedSeconds: number
  p50Ms: number
  p99Ms: number
}

const entry = fileURLToPath(new URL('./load-process.js', import.meta.url))

export type Load = ReturnType<typeof startLoad>

/** Starts a load generator. Its connections stay open between loads. */
export function startLoad(order: Omit<LoadOrder, 'seconds'>) {
  const child = fork(entry, { execArgv: [] })
  const ended = once(child, 'exit')

  return {
    /** @throws if a response does not have the expected status */
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
