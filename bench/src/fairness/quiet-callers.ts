import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Workspace } from '../workspace.js'

export interface QuietCallers {
  /** The waits (ms) of the responses since the last call. */
  take(): number[]
  /** Waits for the outstanding responses. */
  stop(): Promise<void>
}

const everyMs = 1_000

/**
 * Workspaces that each post one event a second and wait for its outcome. They keep this rate with or without responses, so a
 * slow response does not delay the next request.
 */
export function startQuietCallers(origin: string, workspaces: Workspace[], path: string): QuietCallers {
  const pool = new Pool(origin, { connections: 2 * workspaces.length, pipelining: 1 })
  const body = JSON.stringify({ data: { name: 'Ada' } })
  const underWay = new Set<Promise<void>>()
  let waitsMs: number[] = []
  let isOver = false
  let fault: unknown
  const calling = workspaces.map((workspace, index) =>
    keepCalling(workspace, (index * everyMs) / workspaces.length),
  )

  return {
    take() {
      const taken = waitsMs
      waitsMs = []
      return taken
    },
    async stop() {
      isOver = true
      await Promise.all(calling)
      await Promise.all(underWay)
      await pool.close()
      if (fault) throw fault
    },
  }

  async function keepCalling({ headers }: Workspace, firstAfterMs: number): Promise<void> {
    for (let dueAt = performance.now() + firstAfterMs; !isOver; dueAt += everyMs) {
      await delay(Math.max(0, dueAt - performance.now()))
      const call = post(headers, dueAt).catch((error) => {
        fault ??= error
      })
      underWay.add(call)
      void call.then(() => underWay.delete(call))
    }
  }

  async function post(headers: Record<string, string>, dueAt: number): Promise<void> {
    const answer = await pool.request({
      method: 'POST',
      path,
      headers: { ...headers, prefer: 'wait=30' },
      body,
    })
    // 202: no outcome within half a minute.
    if (answer.statusCode !== 200 && answer.statusCode !== 202)
      throw new Error(`Answered ${answer.statusCode}: ${await answer.body.text()}`)
    await answer.body.dump()
    waitsMs.push(performance.now() - dueAt)
  }
}
