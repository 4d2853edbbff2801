import { type Database, type DatabaseLimits, openDatabase, PrimaryWatch } from '@automation/database'
import { BatchingInbox, type EventQueue, type Inbox, openQueue } from '@automation/queue'
import fp from 'fastify-plugin'
import type { Config } from '../config.js'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
    queue: EventQueue
    inbox: Inbox
  }
}

/** Opens Postgres, the queue, and the inbox in front of both, and closes them in the opposite order. */
export default fp<{ config: Config; limits: DatabaseLimits }>(
  async (app, { config, limits }) => {
    const watch = new PrimaryWatch((line) => app.log.warn(line))
    const database = openDatabase(config.databaseUrl, config.databasePool, limits, watch)
    const queue = openQueue(config.redisUrl, config.queuePrefix, config.queues)
    const { eventsAccepted, acceptBatches, acceptCommits } = app.metrics
    const inbox: Inbox = new BatchingInbox(database, queue, (events, seconds) => {
      eventsAccepted.inc(events)
      acceptBatches.observe(events)
      acceptCommits.observe(seconds)
    })
    app.decorate('database', database)
    app.decorate('queue', queue)
    app.decorate('inbox', inbox)
    app.addHook('onClose', async () => {
      await inbox.close()
      await queue.close()
      await database.close()
    })
  },
  { name: 'resources', dependencies: ['metrics'] },
)
