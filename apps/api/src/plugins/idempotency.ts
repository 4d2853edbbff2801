import fp from 'fastify-plugin'
import { type KeptAnswers, openKeptAnswers } from '../idempotency/kept-answers.js'

declare module 'fastify' {
  interface FastifyInstance {
    keptAnswers: KeptAnswers
  }
}

export default fp(async (app) => {
  app.decorate('keptAnswers', openKeptAnswers(app.database))
})
