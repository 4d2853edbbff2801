import { newId } from '@automation/database'
import { listRuns, type Reply, type Run, replyChannel } from '@automation/jobs'
import fp from 'fastify-plugin'
import { Redis } from 'ioredis'
import type { ApiMetrics } from '../api-metrics.js'
import { findRuns } from '../stored-runs.js'

export interface PendingReply {
  /** The runs of the event once it is done; undefined where the time ran out first. */
  runs: Promise<Run[] | undefined>
  /** Stops waiting, as when the event was not accepted after all. */
  cancel(): void
}

declare module 'fastify' {
  interface FastifyInstance {
    replies: {
      /** Names this process to the workers. */
      instanceId: string
      /** Starts to wait; call it before the event is accepted, or the reply may come first. */
      expect(event: { id: string; workspaceId: string }, waitMs: number): PendingReply
    }
  }
}

/** Who waits longer than an ending process does is told where the outcome will be (ms). */
const endWithinMs = 15_000

interface Waiter {
  workspaceId: string
  settle(runs: Run[] | undefined, how?: keyof ApiMetrics['callers']): void
}

/**
 * Where callers wait for workers: one channel for each API process. Pub/sub forgets what nobody heard, so the stored
 * outcome decides whenever a reply may have been missed: after a reconnect, and when the time runs out.
 */
export default fp<{ redisUrl: string; queuePrefix: string }>(async (app, { redisUrl, queuePrefix }) => {
  const instanceId = newId()
  const waiters = new Map<string, Waiter>()
  const channel = replyChannel(queuePrefix, instanceId)
  const subscriber = new Redis(redisUrl, { maxRetriesPerRequest: null, autoResubscribe: false })

  subscriber.on('error', () => {})
  subscriber.on('message', (_channel, message) => {
    for (const { ruleIds, events } of JSON.parse(message) as Reply[])
      for (const { id, runs } of events) waiters.get(id)?.settle(listRuns(ruleIds, runs))
  })
  // Each time Redis is there: first listen again, then see what was said meanwhile. Without it the API starts all the
  // same, and answers by the stored outcome.
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(settleAllFromStore, () => {})
  })

  app.decorate('replies', { instanceId, expect })
  app.metrics.tellWaiting(() => waiters.size)
  app.addHook('preClose', async () => {
    setTimeout(() => {
      for (const [eventId, waiter] of waiters) void settleFromStore(eventId, waiter, true)
    }, endWithinMs).unref()
  })
  app.addHook('onClose', async () => subscriber.disconnect())

  function expect(event: { id: string; workspaceId: string }, waitMs: number): PendingReply {
    let cancel = () => {}
    const runs = new Promise<Run[] | undefined>((resolve) => {
      const timer = setTimeout(() => void settleFromStore(event.id, waiter, true), waitMs)
      const waiter: Waiter = {
        workspaceId: event.workspaceId,
        settle: (found, how = found === undefined ? 'timed_out' : 'answered') => {
          clearTimeout(timer)
          if (waiters.delete(event.id)) app.metrics.callers[how].inc()
          resolve(found)
        },
      }
      waiters.set(event.id, waiter)
      cancel = () => waiter.settle(undefined, 'not_accepted')
    })
    return { runs, cancel }
  }

  function settleAllFromStore(): void {
    for (const [eventId, waiter] of waiters) void settleFromStore(eventId, waiter)
  }

  async function settleFromStore(eventId: string, waiter: Waiter, isLastChance = false): Promise<void> {
    const runs = await findRuns(app.database.forWorkspace(waiter.workspaceId), eventId).catch(() => undefined)
    if (runs !== undefined || isLastChance) waiter.settle(runs)
  }
})
