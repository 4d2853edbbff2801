import fp from 'fastify-plugin'
import { openStoredOutcomes, type StoredOutcomes } from '../stored-outcomes.js'

declare module 'fastify' {
  interface FastifyInstance {
    storedOutcomes: StoredOutcomes
  }
}

export default fp(async (app) => {
  app.decorate('storedOutcomes', openStoredOutcomes(app.database))
})
