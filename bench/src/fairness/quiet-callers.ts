import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Workspace } from '../workspace.js'

export interface QuietCallers {
  /** The waits (ms) of what was answered since this was asked last. */
  take(): number[]
  /** Waits for the answers that are still to come. */
  stop(): Promise<void>
}

const everyMs = 1_000

/**
 * Workspaces of which each posts one event a second and waits for its outcome. They keep their pace whether or not they are
 * answered, so a slow answer does not spare the product the next request.
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
    // 202: not even within the half minute.
    if (answer.statusCode !== 200 && answer.statusCode !== 202)
      throw new Error(`Answered ${answer.statusCode}: ${await answer.body.text()}`)
    await answer.body.dump()
    waitsMs.push(performance.now() - dueAt)
  }
}
