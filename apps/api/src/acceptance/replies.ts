import { newId } from '@automation/database'
import type { EventInWorkspace } from '@automation/history'
import { listEvaluations, type RuleEvaluation } from '@automation/ledger'
import { openRedis, type Reply, replyChannel } from '@automation/queue'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { ApiMetrics } from '../api-metrics.js'
import { waitAtMost } from './wait-at-most.js'

export interface PendingReply {
  /** The evaluations of the event once it is done; undefined where the time ran out first. */
  evaluations: Promise<RuleEvaluation[] | undefined>
  /** Stops waiting, for an event that was not accepted. */
  cancel(): void
}

declare module 'fastify' {
  interface FastifyInstance {
    replies: Replies
  }
}

/** How long (ms) a closing process serves waiting callers. After that they get the location of the outcome. */
const closeWithinMs = 15_000
/** When (ms) the API first looks for the stored outcome of a caller without a reply. The second look comes after twice that time, and so on. */
const firstLookMs = 2_000
/** How long (ms) reading the stored outcome may take for a caller whose time is up. */
const lastReadMs = 2_000

/** How often (ms) the subscriber asks Redis for a response: it waits for none otherwise, and would not notice that its line is silent. */
const pingMs = 10_000

interface ReplyWaiter {
  workspaceId: string
  settle(evaluations: RuleEvaluation[] | undefined, how?: keyof ApiMetrics['callers']): void
}

/**
 * Waits for workers' replies, on one channel for each API process. Pub/sub loses messages without a receiver, and a worker does not
 * know who waits for an execution that another worker began. So the stored outcome decides whenever a reply may have been missed: after
 * a reconnection, after 2, 4, 8 and 16 s, and when a caller's time is up.
 */
class Replies {
  /** Identifies this process to the workers. */
  readonly instanceId = newId()
  readonly #app: FastifyInstance
  readonly #waiters = new Map<string, ReplyWaiter>()
  #hasLoggedMalformed = false

  constructor(app: FastifyInstance) {
    this.#app = app
  }

  get waiting(): number {
    return this.#waiters.size
  }

  /** Starts to wait. Call it before the event is accepted: otherwise the reply may come first. */
  expect({ id, workspaceId }: EventInWorkspace, waitMs: number): PendingReply {
    let cancel = () => {}
    const evaluations = new Promise<RuleEvaluation[] | undefined>((resolve) => {
      const lookAt = (ms: number) => {
        if (ms >= waitMs) return void this.#settleAtLast(id, waiter)
        void this.#settleIfStored(id, waiter)
        const nextMs = Math.min(2 * ms, waitMs)
        timer = setTimeout(lookAt, nextMs - ms, nextMs)
      }
      const firstMs = Math.min(firstLookMs, waitMs)
      let timer = setTimeout(lookAt, firstMs, firstMs)
      const waiter: ReplyWaiter = {
        workspaceId,
        settle: (found, how = found === undefined ? 'timed_out' : 'answered') => {
          clearTimeout(timer)
          // A late look must not end the wait of the same event's next request.
          if (this.#waiters.get(id) === waiter && this.#waiters.delete(id))
            this.#app.metrics.callers[how].inc()
          resolve(found)
        },
      }
      this.#waiters.set(id, waiter)
      cancel = () => waiter.settle(undefined, 'not_accepted')
    })
    return { evaluations, cancel }
  }

  receive(message: string): void {
    try {
      for (const { ruleIds, events } of JSON.parse(message) as Reply[])
        for (const { id, matched, outranked, chosen } of events)
          this.#waiters.get(id)?.settle(listEvaluations(ruleIds, matched, outranked, chosen))
    } catch (error) {
      // The callers get the stored outcome. One line is enough: a flood must not fill the log.
      if (!this.#hasLoggedMalformed)
        this.#app.log.warn(
          { err: error },
          'a malformed reply was ignored; later ones are ignored without a log line',
        )
      this.#hasLoggedMalformed = true
    }
  }

  /** Settles all waiters whose outcome is stored. */
  settleFromStore(): void {
    for (const [id, waiter] of this.#waiters) void this.#settleIfStored(id, waiter)
  }

  /** Settles all waiters, those without an outcome too. */
  settleAll(): void {
    for (const [id, waiter] of this.#waiters) void this.#settleAtLast(id, waiter)
  }

  async #settleIfStored(id: string, waiter: ReplyWaiter): Promise<void> {
    const found = await this.#findEvaluations(id, waiter)
    if (found !== undefined) waiter.settle(found)
  }

  /** Settles a waiter whose time is up. It does not wait long for a Postgres that does not respond. */
  async #settleAtLast(id: string, waiter: ReplyWaiter): Promise<void> {
    waiter.settle(await waitAtMost(this.#findEvaluations(id, waiter), lastReadMs))
  }

  async #findEvaluations(id: string, { workspaceId }: ReplyWaiter): Promise<RuleEvaluation[] | undefined> {
    const outcome = await this.#app.findOutcome({ id, workspaceId }).catch(() => undefined)
    return outcome?.evaluations
  }
}

export default fp<{ redisUrl: string; queuePrefix: string }>(
  async (app, { redisUrl, queuePrefix }) => {
    const replies = new Replies(app)
    const subscriber = openRedis(redisUrl, queuePrefix, 'wait', { autoResubscribe: false })
    subscriber.on('message', (_channel, message) => replies.receive(message))
    // After each connection: first subscribe, then read the outcomes that were missed. Without Redis the API starts too, and responds
    // with stored outcomes.
    subscriber.on('ready', () => {
      subscriber.subscribe(replyChannel(queuePrefix, replies.instanceId)).then(
        () => replies.settleFromStore(),
        () => {},
      )
    })
    const pinging = setInterval(() => {
      if (subscriber.status === 'ready') subscriber.ping().catch(() => {})
    }, pingMs)
    app.decorate('replies', replies)
    app.metrics.registerWaiting(() => replies.waiting)
    app.addHook('preClose', async () => {
      setTimeout(() => replies.settleAll(), closeWithinMs).unref()
    })
    app.addHook('onClose', async () => {
      clearInterval(pinging)
      subscriber.disconnect()
    })
  },
  { name: 'replies', dependencies: ['metrics', 'stored-outcomes'] },
)
