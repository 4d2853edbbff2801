import { findDatabaseFault } from '@automation/database'
import { endGracefully, reportReady } from '@automation/process/server'
import { readOrExit, waitOrExit } from '@automation/process/settings'
import { logLibraries } from '@automation/process/telemetry'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
logLibraries('api', config.logLevel)
const app = await buildApp(config)

const { drainSeconds } = config
endGracefully(app, { seconds: drainSeconds, run: () => app.drain(drainSeconds) })

const postgres = { name: 'Postgres', findFault: () => findDatabaseFault(app.database) }
const isWarm = app.warmUp(waitOrExit([postgres], app.log))
// Alive at once, and ready as soon as it can serve. It can serve without Redis.
await app.listen({ host: config.host, port: config.port })
const isRedisUsable = app.waitForRedis().catch(({ message }: Error) => {
  app.log.fatal(message)
  process.exit(1)
})
await Promise.all([isWarm, isRedisUsable])
if (!app.isEnding()) reportReady(app)
