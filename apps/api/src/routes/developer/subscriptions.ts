import {
  type Administrator,
  createSubscription,
  deleteSubscription,
  findSubscriptionUrlFault,
  listSubscriptions,
  NewSubscription,
  pingSubscription,
  readSubscription,
  type Sealer,
  Subscription,
  SubscriptionToCreate,
  SubscriptionToUpdate,
  updateSubscription,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { Accepted, presentAccepted } from '../../acceptance/run-event.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import type { Resource } from '../../etag.js'
import { cutList } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { presentCreated } from './present-created.js'

const SubscriptionParams = Type.Object({ id: Id })

const resource: Resource = (transaction, { params }) =>
  readSubscription(transaction, (params as Type.Static<typeof SubscriptionParams>).id)

export const subscriptionRoutes: FastifyPluginAsyncTypebox<{ sealer: Sealer }> = async (app, { sealer }) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listSubscriptions',
      summary: 'List the subscriptions, newest first',
      description: 'A subscription sends events about the workspace, such as a failed execution, to a URL.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { data: Type.Array(Subscription), nextCursor: NextCursor },
          { title: 'SubscriptionList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listSubscriptions(app.database, workspace.id), query, {
        list: 'subscriptions',
        placeOf: ({ id }) => id,
        isNewestFirst: true,
      }),
  })

  app.post('/', {
    attachValidation: true,
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'createSubscription',
      summary:
        'Create a subscription: send events about the workspace to a URL. Only this response contains the signing secret',
      description:
        'Store the secret at once: with it the receiver checks signatures. The URL must be public, and it gets each event of the chosen types as a POST. A workspace has at most 20 subscriptions.',
      body: SubscriptionToCreate,
      response: { 201: NewSubscription, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      refuseFaults(request)
      const create = (administrator: Administrator) => createSubscription(administrator, sealer, request.body)
      const present = (made: NewSubscription) => presentCreated(`${app.prefix}/${made.id}`, made)
      return sendStored(reply, await changeOnce(request, create, present, 'secret'))
    },
  })

  app.get('/:id', {
    config: { role: 'admin', resource },
    schema: {
      operationId: 'getSubscription',
      summary: 'Get a subscription',
      description: 'Without its secret, which is shown once, on creation.',
      params: SubscriptionParams,
      response: { 200: Subscription, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => readSubscription(workspace.database, params.id),
  })

  app.patch('/:id', {
    attachValidation: true,
    config: { role: 'admin', resource },
    schema: {
      operationId: 'updateSubscription',
      summary: 'Update any subset of the fields of a subscription',
      description: 'Fields that you omit stay. Switching it off cancels deliveries that are waiting.',
      params: SubscriptionParams,
      body: SubscriptionToUpdate,
      response: { 200: Subscription, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) => {
      refuseFaults(request)
      return updateSubscription(administratorOf(request), request.params.id, request.body)
    },
  })

  app.delete('/:id', {
    config: { role: 'admin', resource },
    schema: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription, cancel its waiting deliveries and revoke its secrets',
      description: 'Deliveries that are in progress may still arrive.',
      params: SubscriptionParams,
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await deleteSubscription(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })

  app.post('/:id/test', {
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a `subscription.ping` to test a subscription',
      description:
        'The ping is sent even if the subscription has other types. `Location` names its execution, which says what the receiver responded. A subscription that is switched off is 409 with `subscription_inactive`.',
      params: SubscriptionParams,
      response: { 202: Accepted, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const ping = (administrator: Administrator) => pingSubscription(administrator, request.params.id)
      const present = (id: string) => presentAccepted(`/api/executions/${id}`, id)
      return sendStored(reply, await changeOnce(request, ping, present))
    },
  })
}

/** Those of the shape, and a URL that cannot be called, together. */
function refuseFaults({ validationError, body }: FastifyRequest): void {
  const faults = bodyFaults(validationError ?? {})
  const { url } = body as { url?: unknown }
  const urlFault = typeof url === 'string' ? findSubscriptionUrlFault(url) : undefined
  if (urlFault !== undefined) faults.push({ field: 'url', message: urlFault })
  if (faults.length > 0) throw refusals.invalid(faults)
}
