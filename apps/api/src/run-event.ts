import type { NewEvent } from '@automation/inbox'
import type { Run } from '@automation/jobs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Answer } from './idempotency/answer.js'
import { findAnswer } from './idempotency/find-answer.js'
import { readRequestKey } from './idempotency/request-key.js'
import { readPreference } from './prefer.js'
import { Id } from './routes/answers.js'
import { waitAtMost } from './wait-at-most.js'

export const Accepted = Type.Object(
  { id: Id, status: Type.Literal('accepted') },
  { description: 'Accepted and still under way; `Location` tells the outcome.' },
)

/** How long an answer waits until it is kept for a repeat (ms). */
const keepMs = 2_000

/** How an event is told to whoever posted it. */
export interface EventTelling {
  /** Where its outcome is, or will be. */
  locationOf(eventId: string): string
  /** The outcome itself. @throws a refusal where it came to nothing */
  present(runs: Run[]): object
}

/**
 * Accepts the event and waits for the worker as long as the caller likes: 200 with its outcome, or 202 where that was not
 * long enough. Under an Idempotency-Key it is accepted once, and answered like the first time.
 */
export async function runEvent(
  event: NewEvent,
  request: FastifyRequest,
  telling: EventTelling,
): Promise<Answer> {
  const { server } = request
  request.eventId = event.id
  const { waitMs, applied } = readPreference(request.headers.prefer)
  const tell = (runs: Run[] | undefined) => tellEvent(telling, applied, event.id, runs)
  const key = readRequestKey(request)
  if (key === undefined) {
    const accept = (replyTo?: string) => server.inbox.accept(event, replyTo).then(() => true)
    return tell(await acceptAndWait(request, event, waitMs, accept))
  }
  // What does not wait knows its answer before: it is committed together with the event.
  const known = waitMs === 0 ? tell(undefined) : null
  let isFirst = false
  const runs = await acceptAndWait(request, event, waitMs, async (replyTo) => {
    isFirst = await server.inbox.acceptOnce({ request: key, event, answer: known }, replyTo)
    return isFirst
  })
  // Where it is neither the first nor known, the key was removed for its age since it stood in the way: nothing does now.
  if (!isFirst) return (await findEventAnswer(request, telling)) ?? runEvent(event, request, telling)
  if (known !== null) return known
  const answer = tell(runs)
  // That it could not be kept is no reason to hold it back: a retry is then answered from the event.
  const kept = server.keptAnswers.keep({ request: key, eventId: event.id, answer }).catch(() => {})
  await waitAtMost(kept, keepMs)
  return answer
}

/** How the event is told that this request became when it came before; undefined where it has not. */
export async function findEventAnswer(
  request: FastifyRequest,
  telling: EventTelling,
): Promise<Answer | undefined> {
  const key = readRequestKey(request)
  if (key === undefined) return undefined
  const { applied } = readPreference(request.headers.prefer)
  return findAnswer(request, key, (eventId, runs) => tellEvent(telling, applied, eventId, runs))
}

/** For what is accepted and never waited for. */
export function sendAccepted(reply: FastifyReply, location: string, id: string) {
  return reply
    .status(202)
    .header('location', location)
    .send({ id, status: 'accepted' as const })
}

/** @param accept says whether there is anything to wait for */
async function acceptAndWait(
  request: FastifyRequest,
  event: NewEvent,
  waitMs: number,
  accept: (replyTo?: string) => Promise<boolean>,
): Promise<Run[] | undefined> {
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
  return pending.runs
}

/** @param applied what was preferred, to be said back */
function tellEvent(
  { locationOf, present }: EventTelling,
  applied: string | undefined,
  eventId: string,
  runs: Run[] | undefined,
): Answer {
  const location = locationOf(eventId)
  const headers: Record<string, string> = runs === undefined ? { location } : { 'content-location': location }
  if (applied !== undefined) headers['preference-applied'] = applied
  return runs === undefined
    ? { status: 202, headers, body: { id: eventId, status: 'accepted' } }
    : { status: 200, headers, body: present(runs) }
}
