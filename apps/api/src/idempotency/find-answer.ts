import type { RequestKey } from '@automation/inbox'
import type { Run } from '@automation/jobs'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../errors.js'
import { type Answer, asReplay } from './answer.js'

/**
 * How a request that came before was answered; undefined where its key is free. An event whose API died before it had
 * answered is told from what was stored of it.
 *
 * @param tell makes the answer out of the runs of the event that the request became; undefined where it is quarantined
 * @throws refusals: 422 where the key came with another request, 409 where the outcome is not there yet
 */
export async function findAnswer(
  { server, workspace }: FastifyRequest,
  key: RequestKey,
  tell?: (eventId: string, runs: Run[] | undefined) => Answer,
): Promise<Answer | undefined> {
  const known = await server.keptAnswers.find(key)
  if (known === undefined) return undefined
  if (known.requestHash !== key.requestHash) throw refusals.idempotencyKeyReused()
  if (known.answer !== null) return asReplay(known.answer)
  const { eventId } = known
  if (eventId === null || tell === undefined) throw refusals.stillRunning()
  const outcome = await server.storedOutcomes.find({ id: eventId, workspaceId: workspace.id })
  // A quarantined event is done and has no runs: whoever waits for them gets 202, and so does a repeat.
  if (outcome === undefined || (outcome.runs === undefined && !outcome.isQuarantined))
    throw refusals.stillRunning()
  const answer = tell(eventId, outcome.runs)
  await server.keptAnswers.keep({ request: key, eventId, answer })
  return asReplay(answer)
}
