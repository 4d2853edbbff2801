import type { IncomingMessage } from 'node:http'
import type { Sealer } from '@automation/access'
import { toleranceSeconds } from '@automation/webhooks'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createUseNotes } from '../../access/last-used.js'
import type { ApiMetrics } from '../../api-metrics.js'
import { refusals } from '../../errors.js'
import { strangerAt } from '../../plugins/body-budget.js'
import { refusalFor } from '../../plugins/errors.js'
import { readBody } from '../../plugins/read-body.js'
import type { BucketOwner } from '../../rate-limit/find-buckets.js'
import { limitationOf } from '../../rate-limit/rate-limit.js'
import { DataWarnings, Id, refusalResponses } from '../../responses.js'
import {
  checkHeaders,
  DeliveryRefusal,
  hasKnownType,
  type IncomingDelivery,
  isJson,
  mayBePing,
  needsAllSecrets,
  readDelivery,
  rejectionReason,
} from './delivery.js'
import { describeRefusal, otherReason } from './describe-refusal.js'
import { openKnownReceipts } from './known-receipts.js'
import { SecretOpener } from './open-secrets.js'
import { createPayloadReader } from './payload.js'
import { addUrlChallenges, checkPing } from './questions.js'
import { DeliveryReceiver } from './receive-delivery.js'
import { openRejectionLog } from './rejections.js'
import { openTallies } from './tallies.js'
import { DeliveryVerifier } from './verify-delivery.js'

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
  const verifier = new DeliveryVerifier(app, opener, noteUse)
  const receiver = new DeliveryReceiver(app, {
    verifier,
    readPayload: createPayloadReader(app),
    known: openKnownReceipts(app.redis, queuePrefix, () => app.database.generation()),
    draw: drawToken,
  })
  const rejections = openRejectionLog(app.database, (events) => app.inbox.publish(events), sealer, app.log)
  const tallies = openTallies(app.database, app.log)
  app.addHook('onClose', async () => {
    await rejections.close()
    await tallies.close()
  })
  app.removeAllContentTypeParsers()
  // Some providers send JSON as text, or without a type.
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const head = readDelivery(request)
    const isRead = isJson(head) || needsAllSecrets(head) ? hasKnownType(head) : mayBePing(head)
    if (!isRead) throw new DeliveryRefusal('content_type', refusals.notJson())
    return readBody(request, payload, async () => {
      if (!needsAllSecrets(head) && isJson(head)) checkHeaders(head)
      // Of one that names no secret, whether its provider has one is nobody's business.
      const isKnown = await verifier.namesSecret(head)
      return isKnown ? { key: `webhooks:${head.workspaceId}` } : strangerAt(request.ip)
    })
  })

  addUrlChallenges(app, receiver)

  /** A refused request without a verified sender consumes a token of its IP's bucket. */
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    // A challenge in a URL has paid, and one that is refused leaves no row.
    if (request.method !== 'POST') throw error
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
      if (!needsAllSecrets(delivery)) {
        if (delivery.isForm) {
          checkPing(delivery)
          await drawToken(request, reply)
          return sendText(reply, { contentType: 'text/plain', body: '' })
        }
        checkHeaders(delivery)
      }
      const received = await receiver.receive(request, reply, delivery)
      const { stored, payload, bodyDiffers, challenge, scheme } = received
      countAccepted(delivery, stored)
      const response = challenge ?? scheme.response
      if (response !== undefined) return sendText(reply, response)
      return reply.status(stored.isFirst ? 202 : 200).send({
        id: stored.id,
        receiptState: 'accepted' as const,
        deduplicated: !stored.isFirst,
        ...(payload.warnings && { warnings: payload.warnings }),
        ...(bodyDiffers && { bodyDiffers }),
      })
    },
  })

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
      request.bucketOwner = {
        kind: 'webhooks',
        owner: `webhooks:${tenant.workspaceId}`,
        rateClass: 'enterprise',
        tenant,
      }
    await app.consumeToken(request, reply)
    const limitation = limitationOf(request)
    if (limitation) throw limitation
  }
}

/** What a provider wants instead of our response. */
function sendText(reply: FastifyReply, { status = 200, contentType, body }: TextResponse) {
  return reply.status(status).type(contentType).send(body)
}

interface TextResponse {
  status?: number
  contentType: string
  body: string
}
