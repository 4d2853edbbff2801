import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** What this process remembers, for a second at most, of who may do what. Cleared when it changes some of that itself. */
    accessCaches: { clear(): void }[]
  }
}

export default fp(
  async (app) => {
    app.decorate('accessCaches', [])
  },
  { name: 'access-caches' },
)
