import { createHmac, timingSafeEqual } from 'node:crypto'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import pg from 'pg'

// A yardstick for the acceptance of webhooks: a plain service that takes an afternoon to write, on the same Postgres and
// Redis. It is neither slowed down nor tuned, and promises less: a crash between Redis and Postgres loses the event, and
// its replay is then refused as a duplicate. It never runs events.
const { DATABASE_URL, REDIS_URL = '', SIGNING_KEY = '' } = process.env
const toleranceSeconds = 300
const rememberSeconds = 86_400

const key = Buffer.from(SIGNING_KEY, 'base64')
const redis = new Redis(REDIS_URL)
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
await pool.query(`CREATE TABLE yardstick_webhooks (
  id text PRIMARY KEY, provider text, workspace_id uuid, payload jsonb, received_at timestamptz DEFAULT now())`)

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
    if (!isSigned || !(ageSeconds <= toleranceSeconds)) return reply.code(401).send({ error: 'Unauthorized' })

    const redisKey = `webhook:${provider}:${workspaceId}:${id}`
    const isNew = await redis.set(redisKey, '1', 'EX', rememberSeconds, 'NX')
    if (!isNew) return { id, deduplicated: true }

    await pool.query(
      'INSERT INTO yardstick_webhooks (id, provider, workspace_id, payload) VALUES ($1, $2, $3, $4)',
      [id, provider, workspaceId, body.toString()],
    )
    return reply.code(202).send({ id, deduplicated: false })
  },
)

const stop = () => process.exit()
process.on('SIGTERM', stop)
process.on('disconnect', stop)
const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
process.send?.({ ready: true, port: Number(port) })
