import { isUuid } from '@automation/database'
import { type Run, triggerResultOf } from '@automation/jobs'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { isUnfinished, readRuns } from '../../stored-runs.js'
import { Id, refusalAnswers } from '../answers.js'
import { Event, type EventStatus, presentRow } from './event-schemas.js'

export const readRoutes: FastifyPluginAsyncTypebox = async (app) => {
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
      const runs = event.doneAt === null ? [] : await readRuns(database, event)
      return {
        ...presentRow(event),
        data: event.data as object,
        status: statusOf(event, runs),
        ...triggerResultOf(runs),
      }
    },
  })
}

function statusOf(event: { doneAt: Date | null; quarantined: boolean }, runs: Run[]): EventStatus {
  if (event.quarantined) return 'quarantined'
  if (event.doneAt === null) return 'accepted'
  return runs.some(isUnfinished) ? 'running' : 'done'
}
