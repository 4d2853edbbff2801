import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Caches of permissions, whose entries live for at most a second. A request that changes permissions clears them. */
    accessCaches: { clear(): void }[]
  }
}

export default fp(
  async (app) => {
    app.decorate('accessCaches', [])
  },
  { name: 'access-caches' },
)
