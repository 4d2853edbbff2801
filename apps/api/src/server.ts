import { findDatabaseFault } from '@automation/database'
import { readOrExit, waitOrExit } from '@automation/environment'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
const app = await buildApp(config)

closeWithGrace({ delay: 25_000 + config.drainSeconds * 1_000, logger: app.log }, async ({ err }) => {
  if (err) app.log.error({ err }, 'shutting down after an error')
  else await app.drain(config.drainSeconds)
  await app.close()
})
// A parent process with an IPC channel is notified when this process is ready, and this process ends with its parent.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

// Alive at once, and ready as soon as it can serve. It can serve without Redis.
await app.listen({ host: config.host, port: config.port })
await Promise.all([
  waitOrExit([{ name: 'Postgres', findFault: () => findDatabaseFault(app.database) }], {
    timeoutSeconds: config.startTimeoutSeconds,
    log: app.log,
  }),
  app.waitForRedis(),
])
// Prisma's first query of a process takes a quarter of a second; it must not delay the first request.
await app.database.system.$queryRaw`SELECT 1`.catch(() => app.log.warn('Postgres is away again'))
process.send?.({
  ready: true,
  port: (app.server.address() as { port: number }).port,
  metricsPort: app.metricsPort,
})
