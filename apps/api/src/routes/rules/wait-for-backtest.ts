import { setTimeout as pause } from 'node:timers/promises'
import { isBacktestUnfinished } from '@automation/rules'
import type { FastifyRequest } from 'fastify'

const lookEveryMs = 100

/** Waits until no worker computes it any more, for as long as the caller prefers. */
export async function waitForBacktest(request: FastifyRequest, id: string, waitMs: number): Promise<void> {
  request.server.liftDeadline(request)
  const endAt = performance.now() + waitMs
  let isWaiting = true
  while (isWaiting && performance.now() < endAt && !request.raw.socket.destroyed) {
    await pause(Math.min(lookEveryMs, endAt - performance.now()))
    isWaiting = await isBacktestUnfinished(request.workspace.reads, id)
  }
}
