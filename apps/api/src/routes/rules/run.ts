import { newId } from '@automation/database'
import type { RuleDefinition, WorkLimits } from '@automation/engine'
import { isShadow } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ExplainedResult } from '../../acceptance/execution-result.js'
import { findUsedKey, IdempotencyHeader } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader } from '../../acceptance/prefer.js'
import { executionResultOf, TriggerResult, triggerResultOf } from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { warnOfTexts } from '../../long-numbers.js'
import { refusalResponses } from '../../responses.js'
import { EventData } from '../events/event-schemas.js'
import { ruleId } from './check-rule.js'
import { dryRunEventOfRequest } from './dry-run-event.js'
import { RuleParams } from './rule-schemas.js'

const ExplainQuery = Type.Object({
  explain: Type.Optional(
    Type.Boolean({ description: 'In a dry run, add the trace: each condition and its result' }),
  ),
})

const evaluated =
  'A workspace runs one dry run, explanation, preview or check of patterns at a time. If too many are queued, the response is 429. If one exceeds its time or memory limit, it is 400.'

export const runRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.post('/:id/execute', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator') },
    schema: {
      tags: ['Running'],
      operationId: 'executeRule',
      summary: 'Execute a rule, active or inactive',
      description: `A dry run evaluates the rule and simulates its actions. It has no effects. ${evaluated}`,
      params: RuleParams,
      headers: Type.Object({ ...IdempotencyHeader.properties, ...PreferHeader.properties }),
      querystring: ExplainQuery,
      body: Type.Object(
        { data: EventData, dryRun: Type.Optional(Type.Boolean()) },
        { additionalProperties: false, title: 'RuleToExecute' },
      ),
      response: { 200: ExplainedResult, 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, workspace } = request
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: { id: true, trigger: true, conditions: true, actions: true, isActive: true, mode: true },
      })
      if (rule === null || (isShadow(rule) && !isDryRun(body))) {
        const response = isDryRun(body) ? undefined : await findEventResponse(request, executed)
        if (response === undefined) throw rule === null ? refusals.ruleNotFound() : refusals.ruleIsShadow()
        return sendStored(reply, response)
      }
      if (isDryRun(body)) {
        const { conditions, actions } = rule as unknown as RuleDefinition
        // A dry run changes nothing, so it needs neither queue nor worker: there is nothing that could be lost.
        const result = await request.evaluate('dryRun', {
          definition: { conditions, actions },
          data: body.data,
          now: Date.now(),
          limits: workLimits,
          explains: query.explain === true,
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
      return sendStored(reply, await runEvent(event, request, executed))
    },
  })

  app.post('/trigger/:eventType', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator') },
    schema: {
      tags: ['Running'],
      operationId: 'triggerEvent',
      summary: 'Post an event. Every active rule for its type runs',
      description: `A dry run shows what each of these rules would do. It has no effects, and stores and counts nothing. ${evaluated}`,
      params: Type.Object({ eventType: Type.String() }),
      headers: Type.Object({ ...IdempotencyHeader.properties, ...PreferHeader.properties }),
      querystring: ExplainQuery,
      body: Type.Object(
        { data: EventData, dryRun: Type.Optional(Type.Boolean()) },
        { additionalProperties: false, title: 'EventToTrigger' },
      ),
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, workspace } = request
      if (!(await app.eventTypes.has(workspace.id, params.eventType))) {
        const key = isDryRun(body) ? undefined : await findUsedKey(request)
        const response = key && (await findEventResponse(request, triggered))
        if (response === undefined) throw refusals.invalidTriggerType(params.eventType)
        return sendStored(reply, response)
      }
      if (isDryRun(body)) {
        const asked = { type: params.eventType, data: body.data, explains: query.explain === true }
        const result = await dryRunEventOfRequest(request, asked, workLimits)
        return reply.type('application/json; charset=utf-8').send(result as never)
      }
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        createdBy: workspace.createdBy,
        type: params.eventType,
        data: body.data,
        bytes: request.bodyLength,
        addressee: null,
      }
      return sendStored(reply, await runEvent(event, request, triggered))
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

const triggered: Presentation = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
}

function isDryRun(body: unknown): boolean {
  return (body as { dryRun?: unknown } | undefined)?.dryRun === true
}
