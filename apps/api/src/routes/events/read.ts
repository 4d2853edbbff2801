import { isUuid } from '@automation/database'
import { readProgress } from '@automation/history'
import { isUnfinished, type RuleEvaluation } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { triggerResultOf } from '../../acceptance/results.js'
import { readEvaluations } from '../../acceptance/stored-evaluations.js'
import { refusals } from '../../errors.js'
import { Id, refusalResponses } from '../../responses.js'
import { Event, type EventStatus, presentEventRow, presentProgress } from './event-schemas.js'

export const eventReadRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getEvent',
      summary: 'Get an event and its outcome',
      description:
        '`results` has an entry for each active rule of the event type. After a 202, poll until `status` is `done`. For the conditions of each rule use GET /api/events/{id}/why.',
      params: Type.Object({ id: Id }),
      response: { 200: Event, ...refusalResponses(404) },
    },
    handler: async ({ params, caller, workspace: { id, reads } }) => {
      const event = isUuid(params.id) ? await reads.event.findUnique({ where: { id: params.id } }) : null
      if (event === null) throw refusals.eventNotFound()
      const evaluations = event.doneAt === null ? [] : await readEvaluations(reads, event)
      const rule = caller?.session?.grant.rule
      const shown = rule === undefined ? evaluations : evaluations.filter(({ ruleId }) => ruleId === rule)
      return {
        ...presentEventRow(event),
        data: event.data as object,
        status: statusOf(event, evaluations),
        ...presentProgress(await readProgress(reads, id, event.id)),
        ...triggerResultOf(shown),
      }
    },
  })
}

function statusOf(
  event: { doneAt: Date | null; quarantined: boolean },
  evaluations: RuleEvaluation[],
): EventStatus {
  if (event.quarantined) return 'quarantined'
  if (event.doneAt === null) return 'accepted'
  return evaluations.some(({ status }) => isUnfinished(status)) ? 'running' : 'done'
}
