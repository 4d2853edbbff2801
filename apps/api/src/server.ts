import { findDatabaseFault } from '@automation/database'
import { readOrExit, waitOrExit } from '@automation/environment'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
const app = await buildApp(config)

closeWithGrace({ delay: 25_000 + config.drainSeconds * 1_000, logger: app.log }, async ({ err }) => {
  if (err) app.log.error({ err }, 'closing after a fault')
  else await app.drain(config.drainSeconds)
  await app.close()
})
// Whoever started this process over an IPC channel learns when it serves, and takes it along when it goes.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

// Alive at once, ready when it can serve; for that it does not need Redis.
await app.listen({ host: config.host, port: config.port })
await Promise.all([
  waitOrExit([{ name: 'Postgres', findFault: () => findDatabaseFault(app.database) }], {
    withinSeconds: config.startTimeoutSeconds,
    log: app.log,
  }),
  app.waitForRedis(),
])
// Prisma's first query of a process takes a quarter of a second: not at the cost of the first request.
await app.database.system.$queryRaw`SELECT 1`.catch(() => app.log.warn('Postgres is away again'))
process.send?.({
  ready: true,
  port: (app.server.address() as { port: number }).port,
  metricsPort: app.metricsPort,
})
