import { isUuid, newId, type WorkspaceDatabase } from '@automation/database'
import type { ReplayableEvent } from '@automation/history'
import { addresseeOf } from '@automation/ledger'
import { maxRules } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readRequestKey } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { TriggerResult, triggerResultOf } from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { Id, refusalResponses } from '../../responses.js'
import { noteReplay } from './note-replay.js'

const ReplayBody = Type.Object(
  {
    rules: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: maxRules,
        uniqueItems: true,
        description:
          'Ids of the rules that the replay is for. Default: all active rules of the event type. The others are left out.',
      }),
    ),
  },
  { additionalProperties: false, title: 'EventToReplay' },
)

export const replayRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/replay', {
    config: { role: 'operator', key: 'event' },
    schema: {
      operationId: 'replayEvent',
      summary: 'Replay an event: the same data, with the current rules',
      description:
        'The new event runs all active rules of its type, or those of them that `rules` names: they are asked as in each replay, for conditions, first match and `perKey`. An event that was addressed to one rule or one subscription goes to the same rule or subscription. To continue an execution that failed, retry it instead: a replay repeats what it has already done.',
      params: Type.Object({ id: Id }),
      headers: PreferHeader,
      body: ReplayBody,
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    preValidation: fillMissingBody,
    handler: async (request, reply) => {
      const key = readRequestKey(request)
      const known = await findEventResponse(request, key, replayed)
      if (known !== undefined) return sendStored(reply, known)
      const { params, workspace } = request
      const { id: replayOf, ...event } = await findEventToReplay(workspace.database, params.id)
      const { rules } = request.body
      const chosenRuleIds = rules && [...new Set(rules.map((id) => id.toLowerCase()))]
      if (chosenRuleIds !== undefined) await checkChosen(workspace.database, event, chosenRuleIds)
      const replay = {
        ...event,
        id: newId(),
        workspaceId: workspace.id,
        createdBy: workspace.createdBy,
        replayOf,
        ...(chosenRuleIds && { chosenRuleIds }),
      }
      const chosen = chosenRuleIds && { rules: chosenRuleIds }
      await noteReplay(request, replayOf, { eventId: replay.id, ...chosen })
      return sendStored(reply, await runEvent(replay, key, request, replayed))
    },
  })
}

const replayed: Presentation = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}

const fieldsToReplay = {
  id: true,
  type: true,
  data: true,
  addresseeKind: true,
  addresseeId: true,
  erasedAt: true,
} as const

/** @throws a 404 refusal where it is not there, or its addressee is not; a 409 where it was erased */
async function findEventToReplay(database: WorkspaceDatabase, id: string): Promise<ReplayableEvent> {
  const row = isUuid(id) ? await database.event.findUnique({ where: { id }, select: fieldsToReplay }) : null
  if (row === null) throw refusals.eventNotFound()
  if (row.erasedAt !== null) throw refusals.eventErased()
  const addressee = addresseeOf(row)
  const data = row.data as object
  const event = { id: row.id, type: row.type, data, bytes: JSON.stringify(data).length, addressee }
  if (addressee === null) return event
  const one = { where: { id: addressee.id }, select: { id: true } } as const
  if (addressee.kind === 'subscription') {
    if ((await database.subscription.findUnique(one)) === null) throw refusals.subscriptionNotFound()
  } else if ((await database.rule.findUnique(one)) === null) throw refusals.ruleNotFound()
  return event
}

/** @throws a 404 refusal where one of them is not there, a 422 where one of them would not meet the event */
async function checkChosen(
  database: WorkspaceDatabase,
  { type, addressee }: Pick<ReplayableEvent, 'type' | 'addressee'>,
  ids: string[],
): Promise<void> {
  if (!ids.every(isUuid)) throw refusals.ruleNotFound()
  const rows = await database.rule.findMany({
    where: { id: { in: ids } },
    select: { id: true, trigger: true, isActive: true },
  })
  const rules = new Map(rows.map((row) => [row.id, row]))
  const faults = ids.flatMap((id, index) => {
    const rule = rules.get(id)
    if (rule === undefined) throw refusals.ruleNotFound()
    const message = addressee === null ? whyNotMet(rule, type) : 'Must be omitted: the event has one receiver'
    return message === undefined ? [] : [{ field: `rules[${index}]`, message }]
  })
  if (faults.length > 0) throw refusals.invalid(faults)
}

function whyNotMet(rule: { trigger: string; isActive: boolean }, type: string): string | undefined {
  if (rule.trigger !== type) return `Has the trigger ${rule.trigger}, and the event is ${type}`
  return rule.isActive ? undefined : 'Is inactive: switch it on, or execute it by hand'
}
