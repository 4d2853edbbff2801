import { orNull } from '@automation/access'
import { isUuid } from '@automation/database'
import { taskPriorities } from '@automation/engine'
import { type ListedTaskRow, listTasks } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { readCursor, writeCursor } from '../lists/cursor.js'
import { checkQuery, readQueryTime, readRange } from '../lists/history-filter.js'
import { StorableText } from '../lists/search-text.js'
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

const TaskQuery = Type.Object({
  ...PageQuery,
  ruleId: Type.Optional(Type.String({ description: 'Id of the rule that created the task' })),
  executionId: Type.Optional(Type.String({ description: 'Id of the execution that created the task' })),
  assigneeId: Type.Optional(
    Type.String({ ...StorableText, description: 'The assigneeId of the task, exactly' }),
  ),
  priority: Type.Optional(Type.Enum([...taskPriorities], { description: 'The priority of the task' })),
  dueBefore: Type.Optional(
    Type.String({
      description: 'Only tasks that are due before this: an ISO 8601 date, or a time with a zone',
    }),
  ),
  from: Type.Optional(
    Type.String({ description: 'Created then or later: an ISO 8601 date, or a time with a zone' }),
  ),
  to: Type.Optional(
    Type.String({ description: 'Created before then: an ISO 8601 date, or a time with a zone' }),
  ),
})

const defaultLimit = 50

export const taskRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listTasks',
      summary: 'List the tasks that rules created, newest first',
      description:
        'Every CREATE_TASK makes exactly one task. If few of many tasks match, a page can be short or empty and still have a nextCursor. Tasks have no status: your application decides when one is done.',
      querystring: TaskQuery,
      response: {
        200: Type.Object({ tasks: Type.Array(Task), nextCursor: NextCursor }, { title: 'TaskPage' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace: { id, reads } }) => {
      checkQuery(TaskQuery, query)
      const { limit = defaultLimit, cursor, from: _from, to: _to, dueBefore, ...others } = query
      const due = dueBefore !== undefined && { dueBefore: readQueryTime(dueBefore) }
      const filter = { ...others, ...due, ...readRange(query) }
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const { rows, end } = await listTasks(reads, id, filter, { before, limit })
      return { tasks: rows.map(presentTask), nextCursor: writeCursor(end) }
    },
  })

  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getTask',
      summary: 'Get a task',
      description: 'As in the list. The task stays as its rule created it.',
      params: Type.Object({ id: Id }),
      response: { 200: Task, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace: { reads } }) => {
      const task = isUuid(params.id) ? await reads.task.findUnique({ where: { id: params.id } }) : null
      if (task === null) throw refusals.taskNotFound()
      return presentTask(task)
    },
  })
}

function presentTask({ dueAt, createdAt, ...task }: ListedTaskRow): Type.Static<typeof Task> {
  return { ...task, dueAt: dueAt?.toISOString() ?? null, createdAt: createdAt.toISOString() }
}
