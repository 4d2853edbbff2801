import { NotAdmitted } from '@automation/admission'
import { newId } from '@automation/database'
import { findReplayable } from '@automation/history'
import type { Narrowing } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'

/** Events that are read, and accepted in one commit: at most, because they may have a megabyte of data each. */
const batchSize = 50
/** After this time (ms) no further batch begins: the caller gets a response in time and continues from there. */
const budgetMs = 5_000
/** A batch begins only where its caller has so much time left (ms). */
const leastMs = 1_000

/** How much time (ms) a call should have left when it begins. */
export const timeToReplayMs = budgetMs + leastMs

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
  request: FastifyRequest,
  { narrowing, after, limit }: { narrowing: Narrowing; after: string | undefined; limit: number },
): Promise<Progress> {
  const { server, workspace, log } = request
  const endAt = Math.min(performance.now() + budgetMs, request.dueAt - leastMs)
  const mayGoOn = () => performance.now() < endAt && !request.raw.socket.destroyed
  let progress: Progress = { replayed: 0, last: after, isOver: false }
  const replayBatch = async () => {
    const { replayed, last } = progress
    const size = Math.min(batchSize, limit - replayed)
    const events = await findReplayable(workspace.reads, narrowing, last, size)
    const replays = events.map(({ id: replayOf, ...event }) => ({
      ...event,
      id: newId(),
      workspaceId: workspace.id,
      createdBy: workspace.createdBy,
      replayOf,
    }))
    if (replays.length > 0) await server.inbox.acceptAll(replays)
    progress = {
      replayed: replayed + replays.length,
      last: events.at(-1)?.id ?? last,
      isOver: replays.length === 0,
    }
  }
  try {
    while (!progress.isOver && progress.replayed < limit && mayGoOn()) await replayBatch()
  } catch (error) {
    // A 429 would say that nothing was done, and a client would pay for it again.
    if (progress.replayed === 0) throw error instanceof NotAdmitted ? refusals.unavailable(error) : error
    log.warn({ err: error, replayed: progress.replayed }, 'a bulk replay ended early')
  }
  if (progress.replayed === 0 && !progress.isOver)
    throw refusals.unavailable(new Error('A bulk replay had no time left'))
  return progress
}
