import type { IncomingMessage } from 'node:http'
import type { Sealer } from '@automation/access'
import { newId } from '@automation/database'
import { toleranceSeconds } from '@automation/webhooks'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createUseNotes } from '../../access/last-used.js'
import type { ApiMetrics } from '../../api-metrics.js'
import { isPassing, type Refusal, refusals } from '../../errors.js'
import { strangerAt } from '../../plugins/body-budget.js'
import { refusalFor } from '../../plugins/errors.js'
import { readBody } from '../../plugins/read-body.js'
import type { BucketOwner } from '../../rate-limit/find-buckets.js'
import { limitationOf } from '../../rate-limit/rate-limit.js'
import { DataWarnings, Id, refusalResponses } from '../../responses.js'
import {
  checkHeaders,
  DeliveryRefusal,
  hashBody,
  type IncomingDelivery,
  isOfProvider,
  isOutsideWindow,
  readDelivery,
  rejectionReason,
} from './delivery.js'
import { openKnownReceipts } from './known-receipts.js'
import { SecretOpener, type StoredSecret } from './open-secrets.js'
import { createPayloadReader, eventsOfPayload, type Payload } from './payload.js'
import { ProviderReceiver } from './receive-from-provider.js'
import { openRejectionLog } from './rejections.js'
import { openTallies } from './tallies.js'
import { createDeliveryVerifier } from './verify-delivery.js'
import { ProviderVerifier } from './verify-provider.js'

const Delivered = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'Id of the receipt. A repeated delivery returns the id of the first.',
    }),
    receiptState: Type.Literal('accepted'),
    deduplicated: Type.Boolean(),
    bodyDiffers: Type.Optional(
      Type.Boolean({
        description: 'Schemes of providers: this delivery has the id of the first, and another body',
      }),
    ),
    warnings: Type.Optional({
      ...DataWarnings,
      description:
        'Data that was stored in a different form, and why a type that the settings map became no event. Absent if there are none.',
    }),
  },
  { title: 'Delivered' },
)

/**
 * Where other systems deliver their webhooks, signed and as often as they like:
 *
 *   type 415 → size 413 → encoding 415 → headers 400 → secret and signature 401 → timestamp 401 → rate 429 → body 400, 422
 *   → known? 200, or 422 where its body was another → receipt and events in one commit 202
 *
 * A body that is large, or still on its way, is read only after the check of the headers. It counts in the budget for the webhooks of the
 * workspace, where it names one of their secrets, and otherwise for strangers: nobody takes the memory of the workspace's own callers,
 * and no stranger that of senders.
 */
export const incomingWebhookRoutes: FastifyPluginAsyncTypebox<{
  sealer: Sealer
  queuePrefix: string
}> = async (app, { sealer, queuePrefix }) => {
  const opener = new SecretOpener(app, sealer)
  const noteUse = createUseNotes((id, lastUsedAt) =>
    app.database.system.signingSecret.updateMany({ where: { id }, data: { lastUsedAt } }),
  )
  const verifier = createDeliveryVerifier(app, opener, noteUse)
  const readPayload = createPayloadReader(app)
  const known = openKnownReceipts(app.redis, queuePrefix)
  const providers = new ProviderReceiver(app, {
    verifier: new ProviderVerifier(app.database, opener, noteUse),
    readPayload,
    known,
    draw: drawToken,
  })
  const rejections = openRejectionLog(app.database, (events) => app.inbox.publish(events), sealer, app.log)
  const tallies = openTallies(app.database, app.log)
  app.addHook('onClose', async () => {
    await rejections.close()
    await tallies.close()
  })
  app.removeAllContentTypeParsers()
  const types = ['application/json', 'application/x-www-form-urlencoded']
  app.addContentTypeParser(types, async (request: FastifyRequest, payload: IncomingMessage) => {
    const head = readDelivery(request)
    // Our own scheme has JSON alone.
    if (head.isForm && !isOfProvider(head)) throw new DeliveryRefusal('content_type', refusals.notJson())
    return readBody(request, payload, async () => {
      const isForeign = isOfProvider(head)
      if (!isForeign) checkHeaders(head)
      // A scheme of a provider names no secret, and whether the provider has one is nobody's business.
      const isKnown = !isForeign && (await verifier.namesSecret(head))
      return isKnown ? { key: `webhooks:${head.workspaceId}` } : strangerAt(request.ip)
    })
  })

  /** A refused request without a verified sender consumes a token of its IP's bucket. */
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const isPaid = request.bucketOwner !== undefined
    if (!isPaid) await app.consumeToken(request, reply)
    const limitation = isPaid ? undefined : limitationOf(request)
    // What is too large is so whenever it is sent again.
    const mayPass = error.statusCode === undefined || error.statusCode >= 500 || error.statusCode === 413
    if (limitation && !mayPass) {
      countRejected(readDelivery(request), 'rate_limit')
      throw limitation
    }
    const reason = rejectionReason(error)
    const delivery = readDelivery(request)
    if (reason !== undefined && !limitation)
      rejections.record(delivery, reason, describeRefusal(refusalFor(error, request)))
    countRejected(delivery, reason ?? otherReason(error))
    throw error
  })

  app.post('/:provider/:workspaceId', {
    config: { isOpen: true },
    schema: {
      operationId: 'deliverWebhook',
      summary: 'Deliver a signed webhook. A repeated delivery has no effect',
      description:
        'For systems that send events signed, in the scheme of the provider’s signing secrets; the headers below are those of the scheme `automation`. Providers with forms send `application/x-www-form-urlencoded`, and some get a response of their own. 202: accepted and committed. 200: this id was accepted before, and nothing happens again. The same id with another body is 422 (`automation`), or 200 with `bodyDiffers`. A wrong signature, and an unknown provider, workspace or secret, are one and the same 401.',
      security: [],
      params: Type.Object({
        provider: Type.String({ description: 'The provider of the signing secret' }),
        workspaceId: { ...Id, description: 'The workspace that receives the webhook' },
      }),
      headers: Type.Object({
        'X-Idempotency-Key': Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9_:-]{1,255}$',
            description: 'Id of the event at the provider, the same on every retry',
          }),
        ),
        'X-Timestamp': Type.Optional(
          Type.String({
            description: `Unix time in seconds. It may differ from the time of the service by at most ${toleranceSeconds}.`,
          }),
        ),
        'X-Signature-Id': Type.Optional(Type.String({ description: 'Id of the signing secret' })),
        'X-Signature': Type.Optional(
          Type.String({
            description:
              '`v1=` and the HMAC-SHA256 of `<X-Idempotency-Key>.<X-Timestamp>.<body>` as hex. Several signatures are separated by commas.',
          }),
        ),
      }),
      response: {
        200: { ...Delivered, 'x-response-description': 'Already accepted. The delivery had no effect.' },
        202: {
          ...Delivered,
          'x-response-description': 'Accepted. The receipt and its events are committed.',
        },
        ...refusalResponses(413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const delivery = readDelivery(request)
      if (isOfProvider(delivery)) return receiveFromProvider(request, reply, delivery)
      checkHeaders(delivery)
      const secret = await verifier.verify(delivery)
      if (secret === undefined) throw new DeliveryRefusal('signature', refusals.notSigned())
      if (isOutsideWindow(delivery.timestamp, Date.now()))
        throw new DeliveryRefusal('timestamp', refusals.staleTimestamp())
      const [found] = await Promise.all([known.find(delivery), drawToken(request, reply, secret)])
      const payload = readPayload(request, delivery, ['json'])
      const bodyHash = hashBody(delivery)
      const stored = found
        ? { ...found, isFirst: false }
        : await accept(request, delivery, secret, bodyHash, payload)
      if (stored.bodyHash !== bodyHash) throw new DeliveryRefusal('reused_id', refusals.eventIdReused())
      countAccepted(delivery, stored)
      return reply.status(stored.isFirst ? 202 : 200).send(presentDelivered(stored, payload))
    },
  })

  async function receiveFromProvider(
    request: FastifyRequest,
    reply: FastifyReply,
    delivery: IncomingDelivery,
  ) {
    const { stored, payload, scheme, bodyDiffers, challenge } = await providers.receive(
      request,
      reply,
      delivery,
    )
    countAccepted(delivery, stored)
    if (challenge !== undefined)
      return reply
        .status(200)
        .type('text/plain')
        .send(challenge as never)
    const { response } = scheme
    if (response !== undefined)
      return reply
        .status(response.status)
        .type(response.contentType)
        .send(response.body as never)
    const delivered = { ...presentDelivered(stored, payload), ...(bodyDiffers && { bodyDiffers }) }
    return reply.status(stored.isFirst ? 202 : 200).send(delivered)
  }

  function countAccepted({ workspaceId }: IncomingDelivery, { isFirst }: { isFirst: boolean }): void {
    app.metrics.deliveries[isFirst ? 'accepted' : 'duplicate'].inc()
    if (!isFirst) tallies.count(workspaceId, 'duplicates')
  }

  function countRejected({ workspaceId }: IncomingDelivery, reason: keyof ApiMetrics['rejections']): void {
    tallies.count(workspaceId, 'rejected')
    app.metrics.deliveries.rejected.inc()
    app.metrics.rejections[reason].inc()
  }

  /** A provider is nobody's user: its deliveries have a bucket of their workspace's own, below that of the creator. Without one, the address pays. */
  async function drawToken(
    request: FastifyRequest,
    reply: FastifyReply,
    tenant?: NonNullable<BucketOwner['tenant']>,
  ): Promise<void> {
    if (tenant !== undefined)
      request.bucketOwner = { owner: `webhooks:${tenant.workspaceId}`, rateClass: 'enterprise', tenant }
    await app.consumeToken(request, reply)
    const limitation = limitationOf(request)
    if (limitation) throw limitation
  }

  async function accept(
    request: FastifyRequest,
    delivery: IncomingDelivery,
    { id: secretId, createdBy }: Pick<StoredSecret, 'id' | 'createdBy'>,
    bodyHash: string,
    payload: Payload,
  ) {
    const { workspaceId, provider, id: key } = delivery
    const id = newId()
    const events = await eventsOfPayload(
      { ...delivery, createdBy },
      id,
      payload,
      request.bodyLength,
      app.eventTypes,
    )
    request.eventId = events[0]?.id
    const receipt = { id, workspaceId, provider, key, bodyHash, secretId }
    const stored = await app.inbox.acceptWebhook(receipt, events)
    if (!stored.isFirst) known.remember(delivery, stored)
    return stored
  }
}

function presentDelivered({ id, isFirst }: { id: string; isFirst: boolean }, { warnings }: Payload) {
  return {
    id,
    receiptState: 'accepted' as const,
    deduplicated: !isFirst,
    ...(warnings && { warnings }),
  }
}

/** Of a refusal that names fields, which the sender has chosen. */
const maxSaid = 500

function describeRefusal(refusal: Refusal | undefined): string {
  const { body } = refusal ?? refusals.notSigned()
  const said =
    'error' in body ? [body.error] : body.errors.map(({ field, message }) => `${field}: ${message}`)
  return said.join(', ').slice(0, maxSaid).toWellFormed()
}

/** Of a refusal that is not written down. */
function otherReason(error: FastifyError): 'rate_limit' | 'size' | 'unavailable' | 'fault' {
  const { statusCode = 500 } = error
  if (statusCode === 429) return 'rate_limit'
  // The body has not come as it was announced.
  if (statusCode < 500) return 'size'
  return statusCode === 503 || isPassing(error) ? 'unavailable' : 'fault'
}
