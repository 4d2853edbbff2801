import { orNull, readSubscription } from '@automation/access'
import type { Prisma } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { EvaluationStatus } from '../../acceptance/results.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'

/** A delivery to a subscription is an execution like that of a rule. Its one action is the call. */
const Delivery = Type.Object(
  {
    id: { ...Id, description: 'Also the id of its event and of its execution' },
    eventType: Type.String({ description: 'A type that subscriptions can receive, or `subscription.ping`' }),
    status: Type.Enum(EvaluationStatus.enum, {
      description:
        'running: a call is in progress. waiting: the delivery waits for a free slot. retrying: the next attempt is due at `dueAt`. succeeded: your server responded with a 2xx status. failed: all attempts failed, or your server refused it. cancelled: the subscription was switched off or deleted first.',
    }),
    attempts: Type.Integer({ description: 'Number of calls that were started' }),
    lastStatusCode: orNull(
      Type.Integer({ description: 'HTTP status of the last call. null if there was no response.' }),
    ),
    error: orNull(Type.String({ description: 'Why the delivery or the last call failed' })),
    createdAt: Type.String({
      format: 'date-time',
      description: 'Time of the service event. The `timestamp` in the body of the call is the same.',
    }),
    dueAt: orNull(Type.String({ format: 'date-time', description: 'When the next attempt is due' })),
  },
  { title: 'SubscriptionDelivery' },
)
type Delivery = Type.Static<typeof Delivery>

const fields = {
  id: true,
  eventType: true,
  status: true,
  results: true,
  error: true,
  startedAt: true,
  dueAt: true,
} as const
const defaultLimit = 50

export const deliveryRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id/deliveries', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listSubscriptionDeliveries',
      summary: 'List the deliveries to a subscription with their outcome, newest first',
      description:
        'Use it when a receiver says that it got nothing: each delivery has its status, its attempts and the last error. One is delivered again with `POST /api/events/{id}/replay`, a range with `POST /api/events/replay` and `filter.subscriptionId`, all that failed with `POST /api/executions/retry`.',
      params: Type.Object({ id: Id }),
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { data: Type.Array(Delivery), nextCursor: NextCursor },
          { title: 'SubscriptionDeliveryPage' },
        ),
        ...refusalResponses(404),
      },
    },
    handler: async ({ params, query, workspace }) => {
      const { id } = await readSubscription(workspace.database, params.id)
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const rows = await workspace.reads.execution.findMany({
        // Of every delivery it is the subscription's, and it has an index.
        where: { AND: [where, { handlerId: id }] },
        select: fields,
        ...page,
      })
      const cut = cutPage(rows, limit)
      return { data: cut.page.map(presentDelivery), nextCursor: cut.nextCursor }
    },
  })
}

function presentDelivery(row: Prisma.ExecutionGetPayload<{ select: typeof fields }>): Delivery {
  const [call] = row.results as unknown as ActionResult[]
  const attempts = call?.attempts ?? []
  const last = attempts.at(-1)
  const { statusCode } = (last?.output ?? call?.output ?? {}) as { statusCode?: number }
  return {
    id: row.id,
    eventType: row.eventType,
    status: row.status,
    attempts: attempts.length,
    lastStatusCode: statusCode ?? null,
    error: row.error ?? (row.status === 'succeeded' ? null : (last?.error ?? null)),
    createdAt: row.startedAt.toISOString(),
    // Of one that is under way it is the end of a worker's lease.
    dueAt: row.status === 'retrying' ? (row.dueAt?.toISOString() ?? null) : null,
  }
}
