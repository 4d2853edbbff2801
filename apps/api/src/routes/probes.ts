import { findMissingMigrations, isReadOnly } from '@automation/database'
import { createSharedReading } from '@automation/process/telemetry'
import { openRedis } from '@automation/queue/open-redis'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'

const Readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'unready', 'ending'], {
      description: 'ending: the process still serves requests but is about to stop. Send it no new requests.',
    }),
    postgres: Type.Enum(['ok', 'away', 'read_only'], {
      description:
        'read_only: the server is a standby, takes no writes, or is a primary that a failover has replaced.',
    }),
    redis: Type.Enum(['ok', 'away', 'evicting'], {
      description:
        'away: Redis is unavailable; the process continues to serve, and events wait in Postgres. evicting: maxmemory-policy is not noeviction, so Redis can drop jobs.',
    }),
    migrations: Type.Enum(['ok', 'pending', 'unknown']),
    clock: Type.Enum(['ok', 'differs', 'outvoted'], {
      description:
        'differs: from that of Postgres, by more than a minute. outvoted: and the clocks of other APIs agree with Postgres, so this process is not ready.',
    }),
  },
  { title: 'Readiness' },
)

/** How long (ms) the state of Postgres and Redis is kept. Everybody may ask for it, and nobody may busy them by asking. */
const keepMs = 1_000

/**
 * Alive: the process answers. Ready: it can serve, for which Postgres has to be there with the tables that it was built for.
 * Redis may be away: if it were asked for, no API at all would get a request while it is, and nothing be accepted.
 */
export const probeRoutes: FastifyPluginAsyncTypebox<{ redisUrl: string; queuePrefix: string }> = async (
  app,
  { redisUrl, queuePrefix },
) => {
  const redis = openRedis(redisUrl, queuePrefix, 'fail at once', { commandTimeout: 1_000 })
  app.addHook('onClose', async () => redis.disconnect())

  app.get('/healthz', {
    config: { isOpen: true },
    schema: {
      operationId: 'getLiveness',
      summary: 'Check whether the process is alive',
      description:
        'For the probe of an orchestrator, which restarts a process that does not respond. It does not check Postgres or Redis.',
      response: { 200: Type.Object({ status: Type.Literal('ok') }, { title: 'Liveness' }) },
    },
    handler: async () => ({ status: 'ok' as const }),
  })

  app.get('/readyz', {
    config: { isOpen: true },
    schema: {
      operationId: 'getReadiness',
      summary: 'Check whether the process can serve requests',
      description:
        'The process is ready when Postgres is reachable and migrated, and its first queries have completed. Its clock has to agree with Postgres, unless that of no other API does. The response also has the state of Redis. It is at most one second old.',
      response: { 200: Readiness, 503: { ...Readiness, 'x-response-description': 'Not ready' } },
    },
    handler: async (request, reply) => {
      // The queries have their own timeouts, and this 503 has more details than that of the deadline.
      app.liftDeadline(request)
      const [database, redisState] = await askBoth()
      const clock = app.clocks.state
      const canServe =
        database.migrations === 'ok' && redisState !== 'evicting' && clock !== 'outvoted' && !app.isCold()
      const status = app.isEnding() ? 'ending' : canServe ? 'ready' : 'unready'
      return reply
        .status(status === 'ready' ? 200 : 503)
        .send({ status, ...database, redis: redisState, clock })
    },
  })

  const askBoth = createSharedReading(() => Promise.all([askPostgres(), askRedis()]), keepMs)

  async function askPostgres() {
    try {
      const missing = await findMissingMigrations(app.database)
      return {
        postgres: 'ok' as const,
        migrations: missing.length === 0 ? ('ok' as const) : ('pending' as const),
      }
    } catch (error) {
      const postgres = isReadOnly(error) ? ('read_only' as const) : ('away' as const)
      return { postgres, migrations: 'unknown' as const }
    }
  }

  async function askRedis() {
    try {
      return mayEvict(await redis.info('memory')) ? ('evicting' as const) : ('ok' as const)
    } catch {
      return 'away' as const
    }
  }
}

/** Some hosted servers do not report their policy. An API that were never ready there would be of no use. */
export function mayEvict(memoryInfo: string): boolean {
  const policy = /^maxmemory_policy:(\S+)/m.exec(memoryInfo)?.[1]
  return policy !== undefined && policy !== 'noeviction'
}
