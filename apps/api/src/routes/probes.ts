import { isTableMissing, listMigrations, Prisma } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Redis } from 'ioredis'
import { Type } from 'typebox'

const State = Type.Enum(['ok', 'away'])
const Readiness = Type.Object({
  status: Type.Enum(['ready', 'unready']),
  postgres: State,
  redis: Type.Enum(['ok', 'away', 'evicting'], {
    description: 'evicting: maxmemory-policy is not noeviction, so Redis may drop jobs',
  }),
  migrations: Type.Enum(['ok', 'pending', 'unknown']),
})

/** Alive: the process answers. Ready: what it stands on answers too, and the tables are the ones it was built for. */
export const probeRoutes: FastifyPluginAsyncTypebox<{ redisUrl: string }> = async (app, { redisUrl }) => {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 1_000,
  })
  redis.on('error', () => {})
  app.addHook('onClose', async () => redis.disconnect())
  const migrations = await listMigrations()

  app.get('/healthz', {
    config: { isOpen: true },
    schema: {
      tags: ['Probes'],
      summary: 'Is the process alive?',
      security: [],
      response: { 200: Type.Object({ status: Type.Literal('ok') }) },
    },
    handler: async () => ({ status: 'ok' as const }),
  })

  app.get('/readyz', {
    config: { isOpen: true },
    schema: {
      tags: ['Probes'],
      summary: 'Can it serve? Postgres, Redis and migrations',
      security: [],
      response: { 200: Readiness, 503: Readiness },
    },
    handler: async (_request, reply) => {
      const [database, redisState] = await Promise.all([askPostgres(), askRedis()])
      const isReady = database.postgres === 'ok' && database.migrations === 'ok' && redisState === 'ok'
      return reply
        .status(isReady ? 200 : 503)
        .send({ status: isReady ? 'ready' : 'unready', ...database, redis: redisState })
    },
  })

  async function askPostgres() {
    try {
      const applied = await app.database.system.$queryRaw<{ name: string }[]>(Prisma.sql`
        SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`)
      const names = new Set(applied.map(({ name }) => name))
      const isComplete = migrations.every((name) => names.has(name))
      return { postgres: 'ok' as const, migrations: isComplete ? ('ok' as const) : ('pending' as const) }
    } catch (error) {
      // Postgres answers, but nothing was ever migrated.
      return isTableMissing(error)
        ? { postgres: 'ok' as const, migrations: 'pending' as const }
        : { postgres: 'away' as const, migrations: 'unknown' as const }
    }
  }

  async function askRedis() {
    try {
      const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]
      return policy === 'noeviction' ? ('ok' as const) : ('evicting' as const)
    } catch {
      return 'away' as const
    }
  }
}
