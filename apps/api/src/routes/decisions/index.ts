import { type Administrator, changeWorkspace, orNull } from '@automation/access'
import { isUuid, type WorkspaceTransaction } from '@automation/database'
import { expiredChoice, maxReasonLength } from '@automation/engine'
import {
  type DecisionRow,
  type DecisionStatus,
  listDecisions,
  lockDecision,
  recordDecision,
} from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../acceptance/idempotency/change-once.js'
import { sendStored } from '../acceptance/idempotency/stored-response.js'
import { permits } from '../access/permissions.js'
import { refusals } from '../errors.js'
import { readCursor, writeCursor } from '../lists/cursor.js'
import { addExcerpts, Excerpt, ExcerptQuery } from '../lists/excerpt.js'
import { checkQuery } from '../lists/history-filter.js'
import { StorableText } from '../lists/search-text.js'
import { Id, NextCursor, PageQuery, refusalResponses, Timestamp } from '../responses.js'

const statuses = ['open', 'decided', 'expired', 'closed'] as const satisfies DecisionStatus[]

const Decision = Type.Object(
  {
    id: { ...Id, description: 'Id of the execution that waits for it' },
    eventId: Id,
    ruleId: Id,
    ruleVersion: Type.Integer(),
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
    until: orNull({ ...Timestamp, description: 'When the time is over. null if the WAIT is not reached.' }),
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
type DecisionToMake = Type.Static<typeof DecisionToMake>

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
      const { limit = defaultLimit, cursor, status: text, ruleId, excerpt = false } = query
      const status = text === undefined ? undefined : readStatus(text)
      const filter = { ...(status && { status }), ...(ruleId !== undefined && { ruleId }) }
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
      if (!isUuid(params.id)) throw refusals.decisionNotFound()
      const id = params.id.toLowerCase()
      let eventId: string | undefined
      const decide = (administrator: Administrator) =>
        changeWorkspace(administrator, async (transaction) => {
          const decided = await decideOne(request, transaction, id, body)
          eventId = decided.eventId
          return {
            result: decided.row,
            entry: { action: 'execution.decided', subject: id, details: body },
          }
        })
      const stored = await changeOnce(request, decide, (row) => {
        return { status: 200, headers: {}, body: present(row) }
      })
      const { id: workspaceId, createdBy } = workspace
      if (eventId !== undefined)
        server.inbox.publish([{ id: eventId, workspaceId, createdBy, addressee: null }])
      return sendStored(reply, stored)
    },
  })
}

/** @throws a refusal where the caller may not, or nobody can any more */
async function decideOne(
  { workspace, caller }: FastifyRequest,
  transaction: WorkspaceTransaction,
  id: string,
  { choice, reason }: DecisionToMake,
): Promise<{ row: DecisionRow; eventId: string }> {
  const row = await lockDecision(transaction, workspace.id, id)
  if (!row?.asked) throw refusals.decisionNotFound()
  const { options, roles, ask } = row.asked
  const permissions = caller?.permissions
  if (roles && !(permissions && roles.some((role) => permits(permissions, role))))
    throw refusals.accessDenied(`One of the roles ${roles.join(', ')} is needed`)
  refuseEnded(row)
  if (!options.includes(choice))
    throw refusals.invalid([{ field: 'choice', message: `Must be one of ${options.join(', ')}` }])
  if (reason === undefined && ask?.includes('reason'))
    throw refusals.invalid([{ field: 'reason', message: 'Required' }])
  const made = { choice, ...(reason !== undefined && { reason }), by: workspace.actor }
  const decision = await recordDecision(transaction, workspace.id, row, made)
  if (decision === undefined) throw refusals.decisionExpired()
  return { row: { ...row, status: 'decided', decision }, eventId: decision.eventId }
}

function refuseEnded({ status, decision }: DecisionRow): void {
  if (status === 'decided') throw refusals.alreadyDecided(decision?.choice ?? '')
  if (status === 'expired') throw refusals.decisionExpired()
  if (status === 'closed') throw refusals.decisionNotNeeded()
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
