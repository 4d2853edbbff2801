import { newId } from '@automation/database'
import { findReplayable, type Narrowing } from '@automation/ledger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { workAndRest } from '../../lists/long-read.js'

/** Events that are read, and accepted in one commit: at most, because they may have a megabyte of data each. */
const batchSize = 50
/** A worker that shares two cores with the rest runs some thousand events a second: half of that is left to others. */
const maxPerSecond = 500
/** After this time (ms) no further batch begins: the caller gets a response in time and continues from there. */
const budgetMs = 5_000

/**
 * Accepts events again, the oldest first, from the beginning or behind one of them. A process that dies on the way has replayed the
 * first of them: each replay names its event.
 *
 * @returns the number of replays, the id of the last event, and whether it is the last that matches
 */
export async function replayEvents(
  { inbox }: Pick<FastifyInstance, 'inbox'>,
  { id: workspaceId, reads }: FastifyRequest['workspace'],
  narrowing: Narrowing,
  after: string | undefined,
  limit: number,
): Promise<{ replayed: number; last: string | undefined; isOver: boolean }> {
  const endAt = performance.now() + budgetMs
  let replayed = 0
  let last = after
  for (;;) {
    const size = Math.min(batchSize, limit - replayed)
    const events = await findReplayable(reads, narrowing, last, size)
    const accept = () =>
      Promise.all(
        events.map(({ id: replayOf, ...event }) =>
          inbox.accept({ ...event, id: newId(), workspaceId, replayOf }),
        ),
      )
    await workAndRest(accept, (tookMs) => Math.max(tookMs, (events.length / maxPerSecond) * 1_000 - tookMs))
    replayed += events.length
    last = events.at(-1)?.id ?? last
    const isOver = events.length === 0
    if (isOver || replayed === limit || performance.now() > endAt) return { replayed, last, isOver }
  }
}
