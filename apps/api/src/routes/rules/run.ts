import { newId, postgresNow } from '@automation/database'
import type { PerKey, RuleDefinition, WorkLimits } from '@automation/engine'
import { isShadow } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ExplainedResult } from '../../acceptance/execution-result.js'
import { readRequestKey } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { executionResultOf, TriggerResult } from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { warnOfTexts } from '../../long-numbers.js'
import { refusalResponses } from '../../responses.js'
import { EventData } from '../events/event-schemas.js'
import {
  aboutEvaluations,
  aboutGiven,
  dryRunFields,
  ExplainQuery,
  isDryRun,
  postEvent,
  readGiven,
  refuseGiven,
} from '../events/post-event.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

export const runRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.post('/:id/execute', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator'), key: 'event' },
    schema: {
      operationId: 'executeRule',
      summary: 'Execute a rule, active or inactive',
      description: `A dry run evaluates the rule and simulates its actions. It has no effects; ${aboutGiven} ${aboutEvaluations}`,
      params: RuleParams,
      headers: PreferHeader,
      querystring: ExplainQuery,
      body: Type.Object(
        { data: EventData, ...dryRunFields },
        { additionalProperties: false, title: 'RuleToExecute' },
      ),
      response: { 200: ExplainedResult, 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, workspace } = request
      refuseGiven(body, isDryRun(body))
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: {
          ...{ id: true, trigger: true, perKey: true, conditions: true, actions: true },
          ...{ isActive: true, mode: true },
        },
      })
      if (rule === null || (isShadow(rule) && !isDryRun(body))) {
        const key = isDryRun(body) ? undefined : readRequestKey(request)
        const response = await findEventResponse(request, key, executed)
        if (response === undefined) throw rule === null ? refusals.ruleNotFound() : refusals.ruleIsShadow()
        return sendStored(reply, response)
      }
      if (isDryRun(body)) {
        const { perKey, conditions, actions } = rule as unknown as RuleDefinition & { perKey: PerKey | null }
        // A dry run changes nothing, so it needs neither queue nor worker: there is nothing that could be lost.
        const result = await request.evaluate('dryRun', {
          definition: { perKey, conditions, actions },
          data: body.data,
          now: postgresNow(),
          limits: workLimits,
          explains: query.explain === true,
          given: readGiven(body),
          ...warnOfTexts(request.longNumbers),
        })
        // It is JSON already.
        return reply.type('application/json; charset=utf-8').send(result as never)
      }
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        createdBy: workspace.createdBy,
        type: rule.trigger,
        data: body.data,
        bytes: request.bodyLength,
        addressee: { kind: 'rule' as const, id: rule.id },
      }
      return sendStored(reply, await runEvent(event, readRequestKey(request), request, executed))
    },
  })

  app.post('/trigger/:eventType', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator'), key: 'event' },
    schema: {
      operationId: 'triggerEvent',
      summary: 'Post an event of one type. Every active rule for the type runs',
      description: `Does the same as POST /api/events, with the type in the path. A 200 has the id of the event in Content-Location only. A dry run shows what each of these rules would do. It has no effects, and stores and counts nothing; ${aboutGiven} ${aboutEvaluations}`,
      params: Type.Object({
        eventType: Type.String({ description: 'Type of the event, such as LEAD_CREATED' }),
      }),
      headers: PreferHeader,
      querystring: ExplainQuery,
      body: Type.Object(
        { data: EventData, ...dryRunFields },
        { additionalProperties: false, title: 'EventToTrigger' },
      ),
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query } = request
      const event = {
        type: params.eventType,
        data: body.data,
        ...readGiven(body),
        isDryRun: isDryRun(body),
        explains: query.explain === true,
      }
      return postEvent(request, reply, event, workLimits, (response) => sendStored(reply, response))
    },
  })
}

/** The execution of a rule by hand has the id of its event. */
const executed: Presentation = {
  locationOf: (eventId) => `/api/executions/${eventId}`,
  present([evaluation]) {
    // None: the rule was deleted before a worker loaded it.
    if (evaluation === undefined) throw refusals.ruleNotFound()
    return executionResultOf(evaluation)
  },
}
