import { newId } from '@automation/database'
import {
  compileRule,
  explainRule,
  isEventType,
  planRule,
  type RuleDefinition,
  simulatePlan,
  Trace,
} from '@automation/engine'
import { ExecutionResult, executionResultOf, TriggerResult, triggerResultOf } from '@automation/jobs'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { Accepted, runEvent, sendAccepted } from '../../run-event.js'
import { refusalAnswers } from '../answers.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

const EventData = Type.Object({}, { description: 'The event data: any JSON object.' })
const DryRun = Type.Evaluate(Type.Intersect([ExecutionResult, Type.Object({ trace: Type.Optional(Trace) })]))

export const runRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/:id/execute', {
    config: { role: ({ body }) => (isDryRun(body) ? 'viewer' : 'operator') },
    schema: {
      tags: ['Running'],
      summary: 'Execute one rule, active or not; as a dry run nothing happens',
      params: RuleParams,
      querystring: Type.Object({
        explain: Type.Optional(
          Type.Boolean({ description: 'a dry run adds its trace: each clause and its verdict' }),
        ),
      }),
      body: Type.Object(
        { data: EventData, dryRun: Type.Optional(Type.Boolean()) },
        { additionalProperties: false },
      ),
      response: { 200: DryRun, 202: Accepted, ...refusalAnswers(404, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, workspace } = request
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: { id: true, trigger: true, conditions: true, actions: true },
      })
      if (rule === null) throw refusals.ruleNotFound()
      if (isDryRun(body)) return dryRun(rule as unknown as RuleDefinition, body.data, query.explain === true)
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        type: rule.trigger,
        data: body.data,
        ruleId: rule.id,
      }
      const runs = await runEvent(event, request, reply)
      if (runs === undefined) return sendAccepted(reply, `/api/executions/${event.id}`, event.id)
      // No run: the rule was deleted between the question above and the worker's taking it up.
      if (runs[0] === undefined) throw refusals.ruleNotFound()
      return reply.header('content-location', `/api/executions/${event.id}`).send(executionResultOf(runs[0]))
    },
  })

  app.post('/trigger/:eventType', {
    config: { role: 'operator' },
    schema: {
      tags: ['Running'],
      summary: 'Post an event: runs every active rule of its type',
      params: Type.Object({ eventType: Type.String() }),
      body: Type.Object({ data: EventData }, { additionalProperties: false }),
      response: { 200: TriggerResult, 202: Accepted, ...refusalAnswers(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, workspace } = request
      if (!isEventType(params.eventType)) throw refusals.invalidTriggerType()
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        type: params.eventType,
        data: body.data,
        ruleId: null,
      }
      const runs = await runEvent(event, request, reply)
      if (runs === undefined) return sendAccepted(reply, `/api/events/${event.id}`, event.id)
      return reply.header('content-location', `/api/events/${event.id}`).send(triggerResultOf(runs))
    },
  })
}

/** The engine is pure, so a dry run needs neither queue nor worker: there is nothing that could be lost. */
function dryRun(definition: RuleDefinition, data: object, isExplained: boolean) {
  const rule = compileRule(definition)
  const now = Date.now()
  const outcome = { ...simulatePlan(planRule(rule, data, now)), dryRun: true }
  return isExplained ? { ...outcome, trace: explainRule(rule, data, now) } : outcome
}

function isDryRun(body: unknown): boolean {
  return (body as { dryRun?: unknown } | undefined)?.dryRun === true
}
