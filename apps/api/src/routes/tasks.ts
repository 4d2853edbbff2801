import { orNull } from '@automation/access'
import { isUuid } from '@automation/database'
import { taskPriorities, type WorkLimits } from '@automation/engine'
import {
  type ListedTaskRow,
  listTasks,
  narrowTasks,
  type ScannedRow,
  scanRows,
  tasksToScan,
  type Visit,
} from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { findRows } from '../evaluation/find-rows.js'
import { readWords } from '../evaluation/find-words.js'
import { readCursor, writeCursor } from '../lists/cursor.js'
import { addExcerpts, Excerpt, ExcerptQuery } from '../lists/excerpt.js'
import { checkQuery, readQueryTime, readRange } from '../lists/history-filter.js'
import { SearchText, StorableText } from '../lists/search-text.js'
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
    eventId: orNull(
      Type.String({
        format: 'uuid',
        description:
          'Id of the event for which the rule created it. null once retention has removed the event',
      }),
    ),
    eventType: orNull(Type.String()),
    excerpt: Excerpt,
  },
  { title: 'Task' },
)

const TaskQuery = Type.Object({
  ...PageQuery,
  q: Type.Optional({
    ...SearchText,
    description:
      'Words, all of which the task has in its title, its description, or any text or number of the data of its event, also as a part of a longer word and in other letter case',
  }),
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
  excerpt: ExcerptQuery,
})

const defaultLimit = 50

export const taskRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listTasks',
      summary: 'List the tasks that rules created, newest first',
      description:
        'Every CREATE_TASK makes exactly one task. If few of many tasks match, a page can be short or empty and still have a nextCursor. With `q`, a page searches at most 20,000 tasks. Tasks have no status: your application decides when one is done.',
      querystring: TaskQuery,
      response: {
        200: Type.Object({ tasks: Type.Array(Task), nextCursor: NextCursor }, { title: 'TaskPage' }),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(TaskQuery, query)
      const { limit = defaultLimit, cursor, q = '', excerpt, ...others } = query
      const { from: _from, to: _to, dueBefore, ...narrowed } = others
      const due = dueBefore !== undefined && { dueBefore: readQueryTime(dueBefore) }
      const filter = { ...narrowed, ...due, ...readRange(query) }
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const words = readWords(q)
      const found =
        words.length === 0
          ? undefined
          : await findRows(
              request,
              { conditions: [], words, limit },
              (limits, visit: Visit<ScannedRow>) =>
                scanRows(
                  workspace.reads,
                  tasksToScan,
                  narrowTasks(workspace.id, filter),
                  before,
                  limits,
                  visit,
                ),
              before,
              workLimits,
            )
      const narrowing = narrowTasks(workspace.id, found ? { ids: found.ids } : filter)
      const { rows, end } = await listTasks(workspace.reads, narrowing, { before, limit })
      const tasks = rows.map(presentTask)
      return {
        tasks: excerpt
          ? await addExcerpts(workspace.reads, workspace.id, tasks, ({ eventId }) => eventId)
          : tasks,
        nextCursor: writeCursor(found === undefined ? end : found.end),
      }
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
    handler: async ({ params, workspace: { id, reads } }) => {
      const named = narrowTasks(id, { ids: isUuid(params.id) ? [params.id] : [] })
      const [task] = (await listTasks(reads, named, { before: undefined, limit: 1 })).rows
      if (task === undefined) throw refusals.taskNotFound()
      return presentTask(task)
    },
  })
}

function presentTask({ dueAt, createdAt, event, ...task }: ListedTaskRow) {
  const ofEvent = { eventId: event?.id ?? null, eventType: event?.type ?? null }
  return { ...task, ...ofEvent, dueAt: dueAt?.toISOString() ?? null, createdAt: createdAt.toISOString() }
}
