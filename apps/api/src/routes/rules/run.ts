import { setImmediate } from 'node:timers/promises'
import { newId } from '@automation/database'
import {
  compileRule,
  explainRule,
  isEventType,
  planRule,
  type RuleDefinition,
  simulatePlan,
  Trace,
  type WorkLimits,
} from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { IdempotencyHeader } from '../../acceptance/idempotency/request-key.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import {
  ExecutionResult,
  executionResultOf,
  TriggerResult,
  triggerResultOf,
} from '../../acceptance/results.js'
import { Accepted, findEventResponse, type Presentation, runEvent } from '../../acceptance/run-event.js'
import { refusals } from '../../errors.js'
import { EventData } from '../events/event-schemas.js'
import { refusalResponses } from '../responses.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

const ExplainedResult = Type.Object(
  { ...ExecutionResult.properties, trace: Type.Optional(Trace) },
  { title: 'ExecutionResult' },
)

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
      description: 'A dry run evaluates the rule and simulates its actions. It has no effects.',
      params: RuleParams,
      headers: IdempotencyHeader,
      querystring: Type.Object({
        explain: Type.Optional(
          Type.Boolean({ description: 'In a dry run, add the trace: each clause and its verdict' }),
        ),
      }),
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
        select: { id: true, trigger: true, conditions: true, actions: true },
      })
      if (rule === null) {
        const response = isDryRun(body) ? undefined : await findEventResponse(request, executed)
        if (response === undefined) throw refusals.ruleNotFound()
        return sendStored(reply, response)
      }
      if (isDryRun(body)) {
        const definition = rule as unknown as RuleDefinition
        return dryRun(definition, body.data, workLimits, query.explain === true)
      }
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        type: rule.trigger,
        data: body.data,
        bytes: request.bodyLength,
        addressee: { kind: 'rule' as const, id: rule.id },
      }
      return sendStored(reply, await runEvent(event, request, executed))
    },
  })

  app.post('/trigger/:eventType', {
    config: { role: 'operator' },
    schema: {
      tags: ['Running'],
      operationId: 'triggerEvent',
      summary: 'Post an event. Every active rule for its type runs',
      params: Type.Object({ eventType: Type.String() }),
      headers: IdempotencyHeader,
      body: Type.Object({ data: EventData }, { additionalProperties: false, title: 'EventToTrigger' }),
      response: { 200: TriggerResult, 202: Accepted, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, workspace } = request
      if (!isEventType(params.eventType)) throw refusals.invalidTriggerType()
      const event = {
        id: newId(),
        workspaceId: workspace.id,
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

/**
 * The engine is pure, so a dry run needs neither queue nor worker: there is nothing that could be lost. Each of its steps is limited
 * to some 50 ms, and other requests are served between them.
 */
async function dryRun(definition: RuleDefinition, data: object, limits: WorkLimits, isExplained: boolean) {
  const rule = compileRule(definition)
  const now = Date.now()
  await setImmediate()
  const outcome = { ...simulatePlan(planRule(rule, data, now, limits)), dryRun: true }
  if (!isExplained) return outcome
  await setImmediate()
  return { ...outcome, trace: explainRule(rule, data, now, limits) }
}

function isDryRun(body: unknown): boolean {
  return (body as { dryRun?: unknown } | undefined)?.dryRun === true
}
