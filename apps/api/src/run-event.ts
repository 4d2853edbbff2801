import type { NewEvent } from '@automation/inbox'
import type { Run } from '@automation/jobs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { readPreference } from './prefer.js'
import { Id } from './routes/answers.js'

export const Accepted = Type.Object(
  { id: Id, status: Type.Literal('accepted') },
  { description: 'Accepted and still under way; `Location` tells the outcome.' },
)

/** Accepts the event and waits for the worker as long as the caller likes; undefined where that was not long enough. */
export async function runEvent(
  event: NewEvent,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Run[] | undefined> {
  const { server } = request
  const { waitMs, applied } = readPreference(request.headers.prefer)
  if (applied !== undefined) reply.header('preference-applied', applied)
  if (waitMs === 0) {
    await server.inbox.accept(event)
    return undefined
  }
  const pending = server.replies.expect(event, waitMs)
  try {
    await server.inbox.accept(event, server.replies.instanceId)
  } catch (error) {
    pending.cancel()
    throw error
  }
  return pending.runs
}

export function sendAccepted(reply: FastifyReply, location: string, id: string) {
  return reply
    .status(202)
    .header('location', location)
    .send({ id, status: 'accepted' as const })
}
