import { type ExecutionStatus, executionStatuses, listExecutions, narrowExecutions } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { readCursor, writeCursor } from '../../lists/cursor.js'
import { checkQuery, checkTypeInQuery, readRange } from '../../lists/history-filter.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { executionFilter } from './execution-filter.js'
import { ListedExecution, presentExecutionRow } from './execution-schemas.js'

const ExecutionQuery = Type.Object({
  ...PageQuery,
  ...executionFilter,
  eventId: Type.Optional(Type.String({ description: 'Only executions for this event' })),
  status: Type.Optional(
    Type.String({
      description: `One or several statuses, separated by commas: ${executionStatuses.join(', ')}`,
    }),
  ),
})

const defaultLimit = 50

export const executionListRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listExecutions',
      summary: 'List executions, newest event first',
      description:
        'from and to refer to the time when the event was accepted. If few of many executions match, a page can be short or empty and still have a nextCursor. The list contains deliveries to a subscription only if the filter names the subscription, their event or their type.',
      querystring: ExecutionQuery,
      response: {
        200: Type.Object(
          { executions: Type.Array(ListedExecution), nextCursor: NextCursor },
          { title: 'ExecutionPage' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(ExecutionQuery, query)
      await checkTypeInQuery(request, query)
      const { status, limit = defaultLimit, cursor, from: _from, to: _to, ...filter } = query
      const narrowing = narrowExecutions(workspace.id, {
        ...filter,
        ...readRange(query),
        statuses: readStatuses(status),
      })
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const { rows, end } = await listExecutions(workspace.reads, narrowing, { before, limit })
      const executions = rows.map((row) => ({
        ...presentExecutionRow(row),
        success: row.error === null,
        conditionsPassed: true,
        actionsExecuted: row.actionsExecuted,
        dryRun: false,
      }))
      return { executions, nextCursor: writeCursor(end) }
    },
  })
}

function readStatuses(text: string | undefined): ExecutionStatus[] | undefined {
  const wanted = text?.split(',')
  if (wanted?.every(isStatus) === false)
    throw refusals.badRequest(
      `Query parameter status must be one or several of ${executionStatuses.join(', ')}`,
    )
  return wanted as ExecutionStatus[] | undefined
}

function isStatus(text: string): boolean {
  return (executionStatuses as readonly string[]).includes(text)
}
