import { createReadBatcher } from '@automation/database'
import { type EventInWorkspace, findOutcomes, type StoredOutcome } from '@automation/history'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the outcome of an event; undefined where it is not done. */
    findOutcome(event: EventInWorkspace): Promise<StoredOutcome | undefined>
  }
}

/** Few, since an event may have a thousand executions. */
const eventsAtOnce = 100

/**
 * Reads outcomes for callers without a reply. Thousands of callers ask at the same moment, when Redis is back or away. They share
 * statements, so that few connections are in use.
 */
export default fp(
  async (app) => {
    const find = createReadBatcher((events: EventInWorkspace[]) => findOutcomes(app.database, events), {
      maxItems: eventsAtOnce,
    })
    app.decorate('findOutcome', find)
  },
  { name: 'stored-outcomes', dependencies: ['resources'] },
)
