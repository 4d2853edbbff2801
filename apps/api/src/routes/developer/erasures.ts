import {
  createErasure,
  Erasure,
  erasureFields,
  findErasure,
  listErasures,
  refuseErasureFaults,
  type Sealer,
} from '@automation/access'
import type { WorkLimits } from '@automation/engine'
import { countErasable } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { findEvents } from '../events/find-events.js'

const ErasureBody = Type.Object(
  {
    ...erasureFields,
    dryRun: Type.Optional(Type.Boolean({ description: 'Only count the matches. Default: true.' })),
  },
  { additionalProperties: false, title: 'ErasureToCreate' },
)

const Counted = Type.Object(
  {
    events: Type.Integer({ description: 'Number of events that have the value at the path' }),
    executions: Type.Integer({ description: 'Number of executions of these events' }),
    tasks: Type.Integer({ description: 'Number of tasks of these executions' }),
    atLeast: Type.Optional(
      Type.Boolean({
        description:
          'true if these are lower bounds, because counting stopped: after 20,000 events, or when its time was over. Absent otherwise. An erasure takes all events.',
      }),
    ),
    unfinished: Type.Object(
      {
        events: Type.Integer({
          description: 'Number of events that no worker has processed yet, of these and of their chains',
        }),
        executions: Type.Integer({
          description: 'Number of executions that have not ended, of these events and of their chains',
        }),
        filter: Type.Object(
          { ids: Type.Array(Id) },
          {
            title: 'UnfinishedFilter',
            description:
              'The first 250 of them: a filter for POST /api/executions/cancel. One whose call is in progress is cancelled by its id.',
          },
        ),
      },
      { title: 'UnfinishedRows', description: 'What keeps the erasure from beginning (409)' },
    ),
    dryRun: Type.Literal(true),
  },
  { title: 'ErasureCounted', 'x-response-description': 'A dry run. Nothing was changed.' },
)

/** As many as one scan passes. */
const maxFound = 20_000
const defaultLimit = 50

export const erasureRoutes: FastifyPluginAsyncTypebox<{ sealer: Sealer; workLimits: WorkLimits }> = async (
  app,
  { sealer, workLimits },
) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listErasures',
      summary: 'List the erasures of the workspace, newest first',
      description: 'With the progress of each. The values are not among them.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object({ data: Type.Array(Erasure), nextCursor: NextCursor }, { title: 'ErasureList' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) => {
      const limit = query.limit ?? defaultLimit
      const { page, nextCursor } = cutPage(
        await listErasures(workspace.reads, pageArguments(query, limit)),
        limit,
      )
      return { data: page, nextCursor }
    },
  })

  app.get('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'getErasure',
      summary: 'Get an erasure and its progress',
      description: 'Poll it until its status is another one than `running`. The value is not in it.',
      params: Type.Object({ id: Id }),
      response: { 200: Erasure, ...refusalResponses(404) },
    },
    handler: ({ params, workspace }) => findErasure(workspace.reads, params.id),
  })

  app.post('/', {
    config: { role: 'admin', callers: { keys: false } },
    schema: {
      operationId: 'createErasure',
      summary: 'Erase a value of a person from events and what was made of them',
      description:
        'A dry run, which only counts the matches, unless `dryRun` is false. Only a user can erase: an API key is 403. Workers then erase the value from each event that has it at the path, from the other events of its chain, and from their executions, tasks, receipts, kept responses and backtests. The rows stay, with `[erased]` in its place. It cannot be undone. While executions of such events have not ended, it is 409 (`erasure_unfinished`). Repeating it does nothing more.',
      body: ErasureBody,
      response: { 200: Counted, 201: Erasure, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { dryRun = true, ...wished } = request.body
      refuseErasureFaults(wished)
      const counted = await countMatches(request, wished, workLimits)
      if (dryRun) return { ...counted, dryRun: true as const }
      const { events, executions } = counted.unfinished
      if (events + executions > 0) throw refusals.erasureUnfinished(events, executions)
      const erasure = await createErasure(administratorOf(request), sealer, wished)
      return reply.status(201).header('location', `${app.prefix}/${erasure.id}`).send(erasure)
    },
  })
}

/** Counts what the newest events have, as far as one search looks. */
async function countMatches(
  request: FastifyRequest,
  at: { path: string; value: string | number },
  workLimits: WorkLimits,
) {
  const { reads, id } = request.workspace
  const wanted = { conditions: [], words: [], at, range: {}, limit: maxFound }
  const { ids, end } = await findEvents(request, wanted, undefined, workLimits)
  const { undone, unfinished, unfinishedIds, ...counts } = await countErasable(reads, id, ids)
  return {
    events: ids.length,
    ...counts,
    ...(end !== undefined && { atLeast: true }),
    unfinished: { events: undone, executions: unfinished, filter: { ids: unfinishedIds } },
  }
}
