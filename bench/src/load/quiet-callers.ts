import { Pool } from 'undici'
import type { Workspace } from '../workspace.js'
import { startOpenLoop, type Wait } from './open-loop.js'

export interface QuietCallers {
  /** The waits (ms) of the responses since the last call. */
  take(): number[]
  /** Waits for the outstanding responses. @returns what was not taken */
  stop(): Promise<Wait[]>
}

/** Workspaces that each post one event a second, in turn, and wait for its outcome: an open loop. */
export function startQuietCallers(origin: string, workspaces: Workspace[], path: string): QuietCallers {
  const pool = new Pool(origin, { connections: 2 * workspaces.length, pipelining: 1 })
  const body = JSON.stringify({ data: { name: 'Ada' } })
  const loop = startOpenLoop({
    ratePerSecond: workspaces.length,
    send: (n) => post(workspaces[n % workspaces.length] as Workspace),
  })

  return {
    take: () => loop.take().map(({ waitMs }) => waitMs),
    async stop() {
      const { waits, failures, firstFailure } = await loop.stop()
      await pool.close()
      if (failures > 0) throw firstFailure
      return waits
    },
  }

  async function post({ headers }: Workspace): Promise<void> {
    const answer = await pool.request({
      method: 'POST',
      path,
      headers: { ...headers, prefer: 'wait=30' },
      body,
    })
    // 202 would be: no outcome within half a minute.
    if (answer.statusCode !== 200)
      throw new Error(`Answered ${answer.statusCode}: ${await answer.body.text()}`)
    await answer.body.dump()
  }
}
