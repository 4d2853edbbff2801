import fp from 'fastify-plugin'
import { createKeptResponses, type KeptResponses } from './idempotency/kept-responses.js'

declare module 'fastify' {
  interface FastifyInstance {
    keptResponses: KeptResponses
  }
}

export default fp(
  async (app) => {
    app.decorate('keptResponses', createKeptResponses(app.database))
  },
  { name: 'idempotency', dependencies: ['resources'] },
)
