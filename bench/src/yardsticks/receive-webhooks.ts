import { createHmac, timingSafeEqual } from 'node:crypto'
import Fastify from 'fastify'
import type { Redis } from 'ioredis'
import { serve } from './serve.js'

export interface Webhook {
  id: string
  provider: string
  workspace_id: string
  payload: string
}

const toleranceSeconds = 300
const rememberSeconds = 86_400

/**
 * The acceptance of webhooks in a plain service: signature, timestamp, a key in Redis, one row. It promises less than the product: a
 * crash between Redis and Postgres loses the event, and its replay is then refused as a duplicate. It never runs events.
 */
export async function receiveWebhooks(
  signingKey: string,
  redis: Redis,
  insert: (webhook: Webhook) => Promise<unknown>,
): Promise<void> {
  const key = Buffer.from(signingKey, 'base64')
  const app = Fastify({ logger: false })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  app.post<{ Params: { provider: string; workspaceId: string }; Body: Buffer }>(
    '/api/incoming-webhooks/:provider/:workspaceId',
    async ({ params: { provider, workspaceId }, headers, body }, reply) => {
      const id = `${headers['x-idempotency-key']}`
      const timestamp = `${headers['x-timestamp']}`
      const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
      const given = Buffer.from(`${headers['x-signature']}`.replace(/^v1=/, ''), 'hex')
      const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
      const ageSeconds = Math.abs(Date.now() / 1_000 - Number(timestamp))
      if (!isSigned || !(ageSeconds <= toleranceSeconds))
        return reply.code(401).send({ error: 'Unauthorized' })

      const redisKey = `webhook:${provider}:${workspaceId}:${id}`
      const isNew = await redis.set(redisKey, '1', 'EX', rememberSeconds, 'NX')
      if (!isNew) return { id, deduplicated: true }

      await insert({ id, provider, workspace_id: workspaceId, payload: body.toString() })
      return reply.code(202).send({ id, deduplicated: false })
    },
  )
  await serve(app)
}
