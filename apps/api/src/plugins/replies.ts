import { newId } from '@automation/database'
import { listRuns, type Reply, type Run, replyChannel } from '@automation/jobs'
import fp from 'fastify-plugin'
import { Redis } from 'ioredis'
import type { ApiMetrics } from '../api-metrics.js'
import { waitAtMost } from '../wait-at-most.js'

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
/** How long the stored outcome is looked up for a caller whose time is up (ms). */
const lastLookMs = 2_000

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
  let hasLoggedMalformed = false

  subscriber.on('error', () => {})
  subscriber.on('message', (_channel, message) => {
    try {
      settleFromReplies(JSON.parse(message) as Reply[])
    } catch (error) {
      // Whoever waits for what it said is told the stored outcome. One line says enough: a flood must not fill the log.
      if (!hasLoggedMalformed)
        app.log.warn(
          { err: error },
          'a malformed reply was ignored; later ones are ignored without a log line',
        )
      hasLoggedMalformed = true
    }
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
      for (const [eventId, waiter] of waiters) void settleAtLast(eventId, waiter)
    }, endWithinMs).unref()
  })
  app.addHook('onClose', async () => subscriber.disconnect())

  function expect(event: { id: string; workspaceId: string }, waitMs: number): PendingReply {
    let cancel = () => {}
    const runs = new Promise<Run[] | undefined>((resolve) => {
      const timer = setTimeout(() => void settleAtLast(event.id, waiter), waitMs)
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

  function settleFromReplies(replies: Reply[]): void {
    for (const { ruleIds, events } of replies)
      for (const { id, runs } of events) waiters.get(id)?.settle(listRuns(ruleIds, runs))
  }

  function settleAllFromStore(): void {
    for (const [eventId, waiter] of waiters) void settleFromStore(eventId, waiter)
  }

  async function settleFromStore(eventId: string, waiter: Waiter): Promise<void> {
    const runs = await findRuns(eventId, waiter)
    if (runs !== undefined) waiter.settle(runs)
  }

  /** The caller's time is up. A Postgres that says nothing is not waited for much longer. */
  async function settleAtLast(eventId: string, waiter: Waiter): Promise<void> {
    waiter.settle(await waitAtMost(findRuns(eventId, waiter), lastLookMs))
  }

  async function findRuns(id: string, { workspaceId }: Waiter): Promise<Run[] | undefined> {
    const outcome = await app.storedOutcomes.find({ id, workspaceId }).catch(() => undefined)
    return outcome?.runs
  }
})
