import { newId } from '@automation/database'
import { type Given, givenFields, type WorkLimits } from '@automation/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findUsedKey, keyTextOf, readEventKey } from '../../acceptance/idempotency/request-key.js'
import type { StoredResponse } from '../../acceptance/idempotency/stored-response.js'
import { triggerResultOf } from '../../acceptance/results.js'
import { findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { dryRunEventOfRequest } from '../rules/dry-run-event.js'

export const ExplainQuery = Type.Object({
  explain: Type.Optional(
    Type.Boolean({ description: 'In a dry run, add the trace: each condition and its result' }),
  ),
})

export const aboutEvaluations =
  'Dry runs, explanations, previews and checks of a workspace run one at a time. If too many are queued: 429. If one exceeds its time or memory limit: 400.'

/** What may stand beside the data of an event: whether it is a dry run, and what its calls are assumed to record. */
export const dryRunFields = { dryRun: Type.Optional(Type.Boolean()), ...givenFields }

export const aboutGiven = '`captured` and `actions` say how its calls are assumed to end.'

/** An event as a request posts it. */
export interface PostedEvent extends Given {
  type: string
  data: object
  isDryRun: boolean
  explains: boolean
  /** Default: that of the header. */
  key?: string | undefined
}

/**
 * Posts the event of a request: every active rule for its type runs. Each route that posts one event ends here, so a caller may repeat
 * on one of them what it has sent on another.
 *
 * @param send presents the response to an event that is not a dry run
 * @throws a 400 refusal for a type that the workspace does not have
 */
export async function postEvent(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, data, isDryRun, explains, key: text = keyTextOf(request), ...given }: PostedEvent,
  limits: WorkLimits,
  send: (response: StoredResponse) => FastifyReply,
): Promise<FastifyReply> {
  refuseGiven(given, isDryRun)
  const { server, workspace } = request
  const readKey = () => readEventKey(request, { type, data }, text)
  if (!(await server.eventTypes.has(workspace.id, type))) {
    const key = isDryRun ? undefined : await findUsedKey(request, text, readKey)
    const response = await findEventResponse(request, key, triggered)
    if (response === undefined) throw await server.eventTypes.refusalOf(workspace.id, type, 'eventType')
    return send(response)
  }
  if (isDryRun) {
    const result = await dryRunEventOfRequest(request, { type, data, explains, given }, limits)
    return reply.type('application/json; charset=utf-8').send(result as never)
  }
  const event = {
    id: newId(),
    workspaceId: workspace.id,
    createdBy: workspace.createdBy,
    type,
    data,
    bytes: request.bodyLength,
    addressee: null,
  }
  return send(await runEvent(event, readKey(), request, triggered))
}

/** Whether a body asks for a dry run. A role of its own is enough for one, and is checked before the body is. */
export function isDryRun(body: unknown): boolean {
  return (body as { dryRun?: unknown } | undefined)?.dryRun === true
}

/** What is ignored is refused: calls that are made record what they get. @throws a 422 refusal */
export function refuseGiven(given: Given, isDryRun: boolean): void {
  const field = (['captured', 'actions'] as const).find((name) => given[name] !== undefined)
  if (field !== undefined && !isDryRun)
    throw refusals.invalid([{ field, message: 'Must stand beside dryRun: true' }])
}

/** What a body says of the calls. */
export function readGiven({ captured, actions }: Given): Given {
  return { ...(captured && { captured }), ...(actions && { actions }) }
}

const triggered: Presentation = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}
