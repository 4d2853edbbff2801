import { orNull } from '@automation/access'
import { isUuid } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { cutPage, pageArguments } from '../lists/page.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../responses.js'

const Task = Type.Object(
  {
    id: Id,
    workspaceId: Id,
    executionId: Id,
    actionIndex: Type.Integer({
      description:
        'Index of the action that created the task, from 0. Below 0 if the execution was retried with a later version that has no such action',
    }),
    ruleId: Id,
    title: Type.String(),
    description: orNull(Type.String()),
    assigneeId: orNull(Type.String()),
    priority: Type.String(),
    dueAt: orNull(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Task' },
)

const defaultLimit = 50

export const taskRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listTasks',
      summary: 'List the tasks that rules created, newest first',
      description:
        'Every CREATE_TASK makes exactly one task. Poll for new ones with a cursor, or read those of one rule or execution.',
      querystring: Type.Object({
        ...PageQuery,
        ruleId: Type.Optional(Type.String({ description: 'Only the tasks of this rule' })),
        executionId: Type.Optional(Type.String({ description: 'Only the tasks of this execution' })),
      }),
      response: {
        200: Type.Object({ tasks: Type.Array(Task), nextCursor: NextCursor }, { title: 'TaskPage' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace: { reads } }) => {
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const tasks = await reads.task.findMany({
        where: { AND: [where, byId('ruleId', query.ruleId), byId('executionId', query.executionId)] },
        ...page,
      })
      const cut = cutPage(tasks, limit)
      return {
        tasks: cut.page.map(({ dueAt, createdAt, ...task }) => ({
          ...task,
          dueAt: dueAt?.toISOString() ?? null,
          createdAt: createdAt.toISOString(),
        })),
        nextCursor: cut.nextCursor,
      }
    },
  })
}

function byId(name: 'ruleId' | 'executionId', id: string | undefined) {
  if (id === undefined) return {}
  if (!isUuid(id)) throw refusals.badRequest(`Query parameter ${name} must be a UUID`)
  return { [name]: id }
}
