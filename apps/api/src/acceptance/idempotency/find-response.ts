import type { RequestKey, RuleEvaluation } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import { asReplay, type StoredResponse } from './stored-response.js'

/**
 * Finds the response to an earlier request with the same key; undefined where the key is free. Where the API died before it
 * responded, the response is made from the stored outcome.
 *
 * @param present makes a response from the evaluations of the event that the request became; undefined where it is quarantined
 * @throws refusals: 422 where the key was used with another request, 409 where there is no outcome yet
 */
export async function findResponse(
  { server, workspace }: FastifyRequest,
  key: RequestKey,
  present?: (eventId: string, evaluations: RuleEvaluation[] | undefined) => StoredResponse,
): Promise<StoredResponse | undefined> {
  const known = await server.keptResponses.find(key)
  if (known === undefined) return undefined
  if (known.requestHash !== key.requestHash) throw refusals.idempotencyKeyReused()
  if (known.answer !== null) return asReplay(known.answer)
  const { eventId } = known
  if (eventId === null || present === undefined) throw refusals.stillRunning()
  const outcome = await server.findOutcome({ id: eventId, workspaceId: workspace.id })
  // A quarantined event is done and has no evaluations: a caller who waits gets 202, and so does a repeat.
  if (outcome === undefined || (outcome.evaluations === undefined && !outcome.isQuarantined))
    throw refusals.stillRunning()
  const response = present(eventId, outcome.evaluations)
  await server.keptResponses.keep({ request: key, eventId, response })
  return asReplay(response)
}
