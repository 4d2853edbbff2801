import { type Administrator, changeWorkspace, orNull } from '@automation/access'
import { expiredChoice, maxReasonLength } from '@automation/engine'
import { type DecisionRow, type DecisionStatus, listDecisions } from '@automation/history'
import type { WokenExecution } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { permits } from '../../access/permissions.js'
import { refusals } from '../../errors.js'
import { readCursor, writeCursor } from '../../lists/cursor.js'
import { addExcerpts, Excerpt, ExcerptQuery } from '../../lists/excerpt.js'
import { checkQuery } from '../../lists/history-filter.js'
import { StorableText } from '../../lists/search-text.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../../responses.js'
import { decide, type ToDecide } from './decide.js'

const statuses = ['open', 'decided', 'expired', 'closed'] as const satisfies DecisionStatus[]

const Decision = Type.Object(
  {
    id: { ...Id, description: 'Id of the execution that waits for it' },
    eventId: Id,
    ruleId: Id,
    ruleVersion: Type.Integer(),
    ruleName: orNull(Type.String({ description: 'In that version; null if the version was removed' })),
    status: Type.Enum([...statuses], {
      description: `open: nobody has decided. decided: somebody did. expired: the time is over, and the choice is ${expiredChoice}. closed: the execution ended before, so the decision is no longer needed.`,
    }),
    options: Type.Array(Type.String(), { description: 'Empty if the version of the rule was removed' }),
    roles: orNull(
      Type.Array(Type.String(), {
        description: 'Who may decide; null: everybody from operator on',
      }),
    ),
    ask: Type.Array(Type.String(), { description: 'What is required beside the choice' }),
    until: orNull({
      ...Timestamp,
      description:
        'open: when the time is over. Otherwise: when the WAIT ended. null if the WAIT is not reached.',
    }),
    choice: orNull(Type.String()),
    reason: orNull(Type.String()),
    by: orNull(Type.String({ description: 'Who decided: as in the audit log' })),
    decidedAt: orNull(Timestamp),
    excerpt: Excerpt,
  },
  { title: 'Decision' },
)

const DecisionQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(
    Type.String({ ...StorableText, description: `Only decisions with this status: ${statuses.join(', ')}` }),
  ),
  ruleId: Type.Optional(Type.String({ description: 'Only decisions of this rule' })),
  executionId: Type.Optional(Type.String({ description: 'Only the decision of this execution' })),
  excerpt: ExcerptQuery,
})

const DecisionToMake = Type.Object(
  {
    choice: Type.String({ minLength: 1, maxLength: 64, description: 'One of the options' }),
    reason: Type.Optional(
      Type.String({
        ...StorableText,
        minLength: 1,
        maxLength: maxReasonLength,
        description: 'Required if `ask` has it',
      }),
    ),
  },
  { additionalProperties: false, title: 'DecisionToMake' },
)

const defaultLimit = 50

/** What executions ask of people. */
export const decisionRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listDecisions',
      summary: 'List the decisions that executions wait for, or have waited for, newest event first',
      description:
        'A decision is in the list from the moment at which its WAIT is reached. If few of many match, a page can be short or empty and still have a nextCursor.',
      querystring: DecisionQuery,
      response: {
        200: Type.Object(
          { decisions: Type.Array(Decision), nextCursor: NextCursor },
          { title: 'DecisionPage' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace: { id, reads } }) => {
      checkQuery(DecisionQuery, query)
      const { limit = defaultLimit, cursor, status: text, ruleId, executionId, excerpt = false } = query
      const status = text === undefined ? undefined : readStatus(text)
      const filter = {
        ...(status && { status }),
        ...(ruleId !== undefined && { ruleId }),
        ...(executionId !== undefined && { executionId }),
      }
      const before = cursor === undefined ? undefined : readCursor(cursor)
      const { rows, end } = await listDecisions(reads, id, filter, { before, limit })
      const decisions = rows.map(present)
      return {
        decisions: excerpt ? await addExcerpts(reads, id, decisions, ({ eventId }) => eventId) : decisions,
        nextCursor: writeCursor(end),
      }
    },
  })

  app.post('/:id', {
    config: { role: 'operator', key: 'change' },
    schema: {
      operationId: 'makeDecision',
      summary: 'Decide what an execution waits for',
      description:
        'The id is that of the execution. The first decision counts: a later one is 409 with `decision_made`. It may come before the WAIT is reached. After its time it is 409 with `decision_expired`, and where the execution has ended `decision_not_needed`.',
      params: Type.Object({ id: Id }),
      body: DecisionToMake,
      response: {
        200: { ...Decision, 'x-response-description': 'Decided' },
        ...refusalResponses(404, 409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { params, body, workspace, server } = request
      const executionId = params.id.toLowerCase()
      const permissions = request.caller?.permissions
      const toDecide: ToDecide = {
        workspaceId: workspace.id,
        executionId,
        choice: body.choice,
        reason: body.reason,
        by: workspace.actor,
        hasRole: (roles = []) =>
          permissions !== undefined && roles.some((role) => permits(permissions, role)),
      }
      let woken: WokenExecution | undefined
      const change = (administrator: Administrator) =>
        changeWorkspace(administrator, async (transaction) => {
          const decided = await decide(transaction, toDecide)
          woken = decided.woken
          return {
            result: decided.row,
            entry: { action: 'execution.decided', subject: executionId, details: body },
          }
        })
      const stored = await changeOnce(request, change, (row) => {
        return { status: 200, headers: {}, body: present(row) }
      })
      if (woken !== undefined) server.inbox.resume(woken)
      return sendStored(reply, stored)
    },
  })
}

function readStatus(text: string): DecisionStatus {
  const status = statuses.find((known) => known === text)
  if (status === undefined)
    throw refusals.badRequest(`Query parameter status must be one of ${statuses.join(', ')}`)
  return status
}

function present({ asked, decision, until, status, ...row }: DecisionRow): Type.Static<typeof Decision> {
  return {
    ...row,
    status,
    options: asked?.options ?? [],
    roles: asked?.roles ?? null,
    ask: asked?.ask ?? [],
    until: until?.toISOString() ?? null,
    choice: decision?.choice ?? (status === 'expired' ? expiredChoice : null),
    reason: decision?.reason ?? null,
    by: decision?.by ?? null,
    decidedAt: decision?.at ?? null,
  }
}
