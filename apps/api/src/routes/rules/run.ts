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
import { sendAnswer } from '../../idempotency/answer.js'
import { IdempotencyHeader } from '../../idempotency/request-key.js'
import { Accepted, type EventTelling, findEventAnswer, runEvent } from '../../run-event.js'
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
      headers: IdempotencyHeader,
      querystring: Type.Object({
        explain: Type.Optional(
          Type.Boolean({ description: 'a dry run adds its trace: each clause and its verdict' }),
        ),
      }),
      body: Type.Object(
        { data: EventData, dryRun: Type.Optional(Type.Boolean()) },
        { additionalProperties: false },
      ),
      response: { 200: DryRun, 202: Accepted, ...refusalAnswers(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, workspace } = request
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: { id: true, trigger: true, conditions: true, actions: true },
      })
      if (rule === null) {
        const answer = isDryRun(body) ? undefined : await findEventAnswer(request, executed)
        if (answer === undefined) throw refusals.ruleNotFound()
        return sendAnswer(reply, answer)
      }
      if (isDryRun(body)) return dryRun(rule as unknown as RuleDefinition, body.data, query.explain === true)
      const event = {
        id: newId(),
        workspaceId: workspace.id,
        type: rule.trigger,
        data: body.data,
        ruleId: rule.id,
      }
      return sendAnswer(reply, await runEvent(event, request, executed))
    },
  })

  app.post('/trigger/:eventType', {
    config: { role: 'operator' },
    schema: {
      tags: ['Running'],
      summary: 'Post an event: runs every active rule of its type',
      params: Type.Object({ eventType: Type.String() }),
      headers: IdempotencyHeader,
      body: Type.Object({ data: EventData }, { additionalProperties: false }),
      response: { 200: TriggerResult, 202: Accepted, ...refusalAnswers(409, 413, 415, 422) },
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
      return sendAnswer(reply, await runEvent(event, request, triggered))
    },
  })
}

/** Executed by hand, a rule's run has the id of its event. */
const executed: EventTelling = {
  locationOf: (eventId) => `/api/executions/${eventId}`,
  present([run]) {
    // No run: the rule was deleted before the worker took it up.
    if (run === undefined) throw refusals.ruleNotFound()
    return executionResultOf(run)
  },
}

const triggered: EventTelling = {
  locationOf: (eventId) => `/api/events/${eventId}`,
  present: triggerResultOf,
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
