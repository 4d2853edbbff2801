import { newId } from '@automation/database'
import { findReplayable, type Narrowing } from '@automation/ledger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../judging/take-turn.js'
import { workAndRest } from '../../lists/long-read.js'

/** Events that are read, and accepted in one commit: at most, because they may have a megabyte of data each. */
const batchSize = 50
/** A worker that shares two cores with the rest runs about a thousand events a second: half of that is left to others. */
const maxPerSecond = 500
/** After this time (ms) no further batch begins: the caller gets a response in time and continues from there. */
const budgetMs = 5_000
/** A batch begins only where its caller has so much time left (ms). */
const leastMs = 1_000

interface Progress {
  replayed: number
  /** The id of the last event. */
  last: string | undefined
  /** Whether it is the last that matches. */
  isOver: boolean
}

/**
 * Accepts events again, the oldest first, from the beginning or behind one of them. A process that dies on the way has replayed the
 * first of them: each replay names its event. What was replayed before a failure is reported: a caller who repeats the whole would
 * replay it twice, and one who continues meets the failure again.
 */
export async function replayEvents(
  { inbox }: Pick<FastifyInstance, 'inbox'>,
  { id: workspaceId, reads }: FastifyRequest['workspace'],
  narrowing: Narrowing,
  after: string | undefined,
  limit: number,
  caller: Caller,
): Promise<Progress> {
  const endAt = Math.min(performance.now() + budgetMs, caller.dueAt - leastMs)
  let progress: Progress = { replayed: 0, last: after, isOver: false }
  const replayBatch = async () => {
    const { replayed, last } = progress
    const events = await findReplayable(reads, narrowing, last, Math.min(batchSize, limit - replayed))
    const replays = events.map(({ id: replayOf, ...event }) => ({
      ...event,
      id: newId(),
      workspaceId,
      replayOf,
    }))
    await Promise.all(replays.map((event) => inbox.accept(event)))
    progress = {
      replayed: replayed + events.length,
      last: events.at(-1)?.id ?? last,
      isOver: events.length === 0,
    }
  }
  try {
    do
      await workAndRest(replayBatch, (tookMs) =>
        Math.max(tookMs, (batchSize / maxPerSecond) * 1_000 - tookMs),
      )
    while (!progress.isOver && progress.replayed < limit && performance.now() < endAt && !caller.isGone())
  } catch (error) {
    if (progress.replayed === 0) throw error
  }
  return progress
}
