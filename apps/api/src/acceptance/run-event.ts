import type { NewEvent, RequestKey, RuleEvaluation } from '@automation/ledger'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { DataWarnings, Id } from '../responses.js'
import { findResponse } from './idempotency/find-response.js'
import type { StoredResponse } from './idempotency/stored-response.js'
import { readPreference } from './prefer.js'
import { waitAtMost } from './wait-at-most.js'

export const Accepted = Type.Object(
  { id: Id, status: Type.Literal('accepted'), warnings: DataWarnings },
  { title: 'Accepted', description: 'Accepted but not finished. `Location` is the URL of the outcome.' },
)

/** How long (ms) a response waits until it is stored for a repeat of the request. */
const keepMs = 2_000

/** How a route presents the outcome of its event. */
export interface Presentation {
  /** The URL of the outcome, now or later. */
  locationOf(eventId: string): string
  /** The body of the outcome. @throws a refusal where there is none */
  present(evaluations: RuleEvaluation[]): object
}

/**
 * Accepts the event and waits for the worker as long as the caller prefers. The response is 200 with the outcome, or 202 where the
 * outcome came later. With a key the event is accepted once, and a repeat gets the first response.
 */
export async function runEvent(
  event: NewEvent,
  key: RequestKey | undefined,
  request: FastifyRequest,
  presentation: Presentation,
): Promise<StoredResponse> {
  request.eventId = event.id
  if (key !== undefined) return runOnce(event, request, key, presentation)
  const { waitMs, applied } = readPreference(request.headers.prefer)
  const { inbox } = request.server
  const evaluations = await acceptAndWait(request, event, waitMs, async (replyTo) => {
    await inbox.accept(event, replyTo)
    return true
  })
  return respond(presentation, applied, event.id, evaluations)
}

async function runOnce(
  event: NewEvent,
  request: FastifyRequest,
  key: RequestKey,
  presentation: Presentation,
): Promise<StoredResponse> {
  const { inbox, keptResponses } = request.server
  const { waitMs, applied } = readPreference(request.headers.prefer)
  // A request that does not wait knows its response in advance: it is committed together with the event.
  const known = waitMs === 0 ? respond(presentation, applied, event.id, undefined) : null
  let isFirst = false
  const evaluations = await acceptAndWait(request, event, waitMs, async (replyTo) => {
    isFirst = await inbox.acceptOnce({ request: key, event, answer: known }, replyTo)
    return isFirst
  })
  // Where the request is neither the first nor finds a response, the other request's key has expired meanwhile: the key is free now.
  if (!isFirst)
    return (await findEventResponse(request, key, presentation)) ?? runOnce(event, request, key, presentation)
  if (known !== null) return known
  const response = respond(presentation, applied, event.id, evaluations)
  // A response that could not be stored is sent all the same: a repeat then gets one made from the outcome.
  const kept = keptResponses.keep({ request: key, eventId: event.id, response }).catch(() => {})
  await waitAtMost(kept, keepMs)
  return response
}

/** Finds the response to a repeated request; undefined where it is no repeat, or has no key. */
export async function findEventResponse(
  request: FastifyRequest,
  key: RequestKey | undefined,
  presentation: Presentation,
): Promise<StoredResponse | undefined> {
  if (key === undefined) return undefined
  const { applied } = readPreference(request.headers.prefer)
  return findResponse(request, key, (eventId, evaluations) =>
    respond(presentation, applied, eventId, evaluations),
  )
}

/** The response of a route that never waits for the outcome. */
export function presentAccepted(location: string, id: string): StoredResponse {
  return { status: 202, headers: { location }, body: { id, status: 'accepted' } }
}

/** @param accept returns whether there is anything to wait for */
async function acceptAndWait(
  request: FastifyRequest,
  event: NewEvent,
  waitMs: number,
  accept: (replyTo?: string) => Promise<boolean>,
): Promise<RuleEvaluation[] | undefined> {
  if (waitMs === 0) {
    await accept()
    return undefined
  }
  const { replies, liftDeadline } = request.server
  const pending = replies.expect(event, waitMs)
  try {
    if (await accept(replies.instanceId)) liftDeadline(request)
    else pending.cancel()
  } catch (error) {
    pending.cancel()
    throw error
  }
  return pending.evaluations
}

/** @param applied the preference that was applied, for `Preference-Applied` */
function respond(
  { locationOf, present }: Presentation,
  applied: string | undefined,
  eventId: string,
  evaluations: RuleEvaluation[] | undefined,
): StoredResponse {
  const isDone = evaluations !== undefined
  const location = locationOf(eventId)
  const headers: Record<string, string> = isDone ? { 'content-location': location } : { location }
  if (applied !== undefined) headers['preference-applied'] = applied
  return isDone
    ? { status: 200, headers, body: present(evaluations) }
    : { status: 202, headers, body: { id: eventId, status: 'accepted' } }
}
