import { type ExecutionStatus, Prisma } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { checkQuery } from '../../history-filter.js'
import { scanPage } from '../../page.js'
import { NextCursor, PageQuery, refusalAnswers } from '../answers.js'
import { executionFilter, narrowExecutions } from './execution-filter.js'
import { type ExecutionRow, ListedExecution, presentRow } from './execution-schemas.js'

const statuses = ['running', 'waiting', 'retrying', 'succeeded', 'failed', 'cancelled'] as const

const ExecutionQuery = Type.Object({
  ...PageQuery,
  ...executionFilter,
  eventId: Type.Optional(Type.String()),
  status: Type.Optional(
    Type.String({ description: `one or several, separated by commas: ${statuses.join(', ')}` }),
  ),
})

const defaultLimit = 50

export const listRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Outcomes'],
      summary: 'List executions, those of the newest event first',
      description:
        'from and to are about when the event came in. Where few of many match, a page may be short, or empty, and still have a nextCursor. Deliveries to a subscription are listed where it, their event or their type is named.',
      querystring: ExecutionQuery,
      response: {
        200: Type.Object({ executions: Type.Array(ListedExecution), nextCursor: NextCursor }),
        ...refusalAnswers(),
      },
    },
    handler: async ({ query, workspace }) => {
      checkQuery(ExecutionQuery, query)
      const { status, limit = defaultLimit, ...filter } = query
      const narrowing = narrowExecutions(workspace.id, { ...filter, statuses: readStatuses(status) })
      const { page, nextCursor } = await scanPage<ExecutionRow & { actionsExecuted: number }>(
        workspace.database,
        Prisma.sql`executions`,
        columns,
        narrowing,
        { ...query, limit },
      )
      const executions = page.map((row) => ({
        ...presentRow(row),
        success: row.error === null,
        conditionsPassed: true,
        actionsExecuted: row.actionsExecuted,
        dryRun: false,
      }))
      return { executions, nextCursor }
    },
  })
}

/** The results are counted where they lie: twenty actions with twenty attempts each may be half a megabyte. */
const columns = Prisma.sql`
  id, workspace_id AS "workspaceId", event_id AS "eventId", event_type AS "eventType", rule_id AS "ruleId",
  rule_version AS "ruleVersion", status, error, started_at AS "startedAt", due_at AS "dueAt",
  finished_at AS "finishedAt",
  (SELECT count(*)::int FROM json_array_elements(results) AS result WHERE result->>'status' = 'success')
    AS "actionsExecuted"`

function readStatuses(text: string | undefined): ExecutionStatus[] | undefined {
  const wanted = text?.split(',')
  if (wanted?.every(isStatus) === false)
    throw refusals.badRequest(`Query parameter status must be one or several of ${statuses.join(', ')}`)
  return wanted as ExecutionStatus[] | undefined
}

function isStatus(text: string): boolean {
  return (statuses as readonly string[]).includes(text)
}
