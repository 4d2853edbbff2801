import { ClockWatch } from '@automation/queue'
import fp from 'fastify-plugin'
import { waitAtMost } from '../acceptance/wait-at-most.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** True while a process that has just started runs its first queries: it serves, and is unready. */
    isCold(): boolean
    /** Runs the first queries when Postgres is there. An app that nobody warms up is not cold. */
    warmUp(untilPostgres: Promise<void>): Promise<void>
    /** Watches the clock of this process, from the first queries on. */
    clocks: ClockWatch
  }
}

/** After this time (ms) a process is ready all the same: its first requests take longer then. */
const withinMs = 5_000

export default fp<{ queuePrefix: string }>(
  async (app, { queuePrefix: prefix }) => {
    const { database, redis, log } = app
    const clocks = new ClockWatch({ kind: 'api', database, redis, prefix, log })
    let isCold = false
    app.decorate('clocks', clocks)
    app.addHook('onClose', () => clocks.stop())
    app.decorate('isCold', () => isCold)
    app.decorate('warmUp', async (untilPostgres: Promise<void>) => {
      isCold = true
      await untilPostgres
      // What is accepted first is dated by Postgres' clock, too.
      const warmed = Promise.all([app.database.warmUp(), clocks.start()]).catch((error: Error) =>
        app.log.warn({ err: error }, 'could not run the first queries'),
      )
      await waitAtMost(warmed, withinMs)
      isCold = false
    })
  },
  { name: 'warm-up', dependencies: ['resources', 'redis'] },
)
