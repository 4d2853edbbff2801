import { isUnsignedPing } from '@automation/webhooks'
import type { FastifyInstance } from 'fastify'
import { refusals } from '../../errors.js'
import { limitationOf } from '../../rate-limit/rate-limit.js'
import { DeliveryRefusal, type IncomingDelivery, readDelivery } from './delivery.js'
import type { DeliveryReceiver } from './receive-delivery.js'

/** Adds the GET with which some providers ask for a challenge. Without one it is what it would be without this route: 405. */
export function addUrlChallenges(app: FastifyInstance, receiver: DeliveryReceiver): void {
  app.get(
    '/:provider/:workspaceId',
    { config: { isOpen: true }, schema: { hide: true }, exposeHeadRoute: false },
    async (request, reply) => {
      const challenge = await receiver.answerUrl(request, reply, readDelivery(request))
      if (challenge !== undefined) return reply.type('text/plain').send(challenge)
      await app.consumeToken(request, reply)
      throw limitationOf(request) ?? refusals.methodNotAllowed('POST')
    },
  )
}

/**
 * A ping says nothing about workspace and provider, and leaves no row: it gets the same response everywhere.
 *
 * @throws DeliveryRefusal for any other form without a signature
 */
export function checkPing({ body }: IncomingDelivery): void {
  if (!isUnsignedPing(body)) throw new DeliveryRefusal('content_type', refusals.notJson())
}
