import { type Database, openDatabase } from '@automation/database'
import { type Inbox, openInbox, openQueue } from '@automation/inbox'
import fp from 'fastify-plugin'
import type { Config } from '../config.js'

declare module 'fastify' {
  interface FastifyInstance {
    database: Database
    inbox: Inbox
  }
}

/** How long (ms) the start waits for Redis before it goes on without. */
const startUpMs = 2_000

/** What the routes stand on: Postgres, and the inbox in front of the queue. Closed in the opposite order. */
export default fp<{ config: Config }>(async (app, { config }) => {
  const database = openDatabase(config.databaseUrl, config.databasePool)
  const queue = openQueue(config.redisUrl, config.queuePrefix)
  const inbox = openInbox(database, queue)
  app.decorate('database', database)
  app.decorate('inbox', inbox)
  if (!(await queue.isReady(startUpMs)))
    app.log.warn('Redis is away; events are accepted and wait for the sweeper')
  app.addHook('onClose', async () => {
    await inbox.close()
    await queue.close()
    await database.close()
  })
})
