import { isUuid, type Prisma, type WorkspaceDatabase } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { ExecutionResult, executionResultOf } from '@automation/jobs'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { Id, orNull, refusalAnswers, Timestamp } from './answers.js'

const Execution = Type.Object({
  id: Id,
  workspaceId: Id,
  eventId: Id,
  ruleId: Id,
  ruleVersion: orNull(Type.Integer()),
  status: Type.Enum(['pending', 'succeeded', 'failed', 'not_matched', 'cancelled'], {
    description:
      'pending: accepted, not yet run. not_matched: the conditions did not pass. cancelled: the rule was deleted first.',
  }),
  ...ExecutionResult.properties,
  error: orNull(Type.String()),
  startedAt: orNull(Timestamp),
  finishedAt: orNull(Timestamp),
})
type Execution = Type.Static<typeof Execution>

export const executionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      summary: 'Read an execution',
      params: Type.Object({ id: Id }),
      response: { 200: Execution, ...refusalAnswers(404) },
    },
    handler: async ({ params, workspace: { database } }) => {
      if (!isUuid(params.id)) throw refusals.executionNotFound()
      // The event first: where it is done, its execution was committed with it and is seen by the question after.
      const event = await database.event.findUnique({ where: { id: params.id }, omit: { data: true } })
      return (await findFinished(database, params.id)) ?? tellUnstarted(event)
    },
  })
}

async function findFinished(database: WorkspaceDatabase, id: string): Promise<Execution | undefined> {
  const execution = await database.execution.findUnique({ where: { id } })
  if (execution === null) return undefined
  const { startedAt, finishedAt, status, error, ruleId, ...rest } = execution
  const results = execution.results as unknown as ActionResult[]
  return {
    ...rest,
    ...executionResultOf({ ruleId, executionId: id, success: status === 'succeeded', error, results }),
    ruleId,
    status,
    error,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
  }
}

/** A rule executed by hand shares its id with its event, so it can be told about before, and without, a row of its own. */
function tellUnstarted(event: Omit<Prisma.EventGetPayload<object>, 'data'> | null): Execution {
  if (event?.ruleId == null) throw refusals.executionNotFound()
  const status = event.doneAt === null ? 'pending' : event.ruleIds.length === 0 ? 'cancelled' : 'not_matched'
  return {
    id: event.id,
    workspaceId: event.workspaceId,
    eventId: event.id,
    ruleId: event.ruleId,
    ruleVersion: null,
    status,
    success: status === 'not_matched',
    conditionsPassed: false,
    actionsExecuted: 0,
    dryRun: false,
    results: [],
    error: status === 'cancelled' ? 'Automation rule not found' : null,
    startedAt: null,
    finishedAt: event.doneAt?.toISOString() ?? null,
  }
}
