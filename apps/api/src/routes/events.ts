import { isUuid } from '@automation/database'
import { TriggerResult, triggerResultOf } from '@automation/jobs'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { readRuns } from '../stored-runs.js'
import { Id, orNull, refusalAnswers, Timestamp } from './answers.js'

const Event = Type.Object({
  id: Id,
  workspaceId: Id,
  type: Type.String(),
  data: Type.Object({}, { additionalProperties: true }),
  ruleId: orNull(Type.String({ format: 'uuid', description: 'set where one rule was executed by hand' })),
  status: Type.Enum(['accepted', 'done']),
  acceptedAt: Timestamp,
  doneAt: orNull(Timestamp),
  ...TriggerResult.properties,
})

export const eventRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      summary: 'Read an event and what came of it',
      params: Type.Object({ id: Id }),
      response: { 200: Event, ...refusalAnswers(404) },
    },
    handler: async ({ params, workspace: { database } }) => {
      const event = isUuid(params.id) ? await database.event.findUnique({ where: { id: params.id } }) : null
      if (event === null) throw refusals.eventNotFound()
      const { ruleIds: _, acceptedAt, doneAt, data, ...rest } = event
      return {
        ...rest,
        data: data as object,
        status: doneAt ? ('done' as const) : ('accepted' as const),
        acceptedAt: acceptedAt.toISOString(),
        doneAt: doneAt?.toISOString() ?? null,
        ...triggerResultOf(doneAt ? await readRuns(database, event) : []),
      }
    },
  })
}
