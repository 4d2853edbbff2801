import { openDatabase } from '@automation/database'
import { createPageServer } from '@automation/process/server'
import { openQueueReader } from '@automation/queue'
import { boardRoutes } from './board.js'
import type { Config } from './config.js'
import { StoredJobNames } from './job-names.js'
import { addLogin } from './login.js'
import { addMetrics } from './metrics.js'
import { probeRoutes } from './probes.js'
import { boardHeaders } from './security-headers.js'
import { addWriteGuard } from './write-guard.js'

/** Builds the whole board, ready to listen or to inject requests into. It starts without Redis, and its pages say so. */
export async function buildApp(config: Config) {
  const app = await createPageServer({ ...config, name: 'board', headers: boardHeaders })
  const queueReader = openQueueReader(config.redisUrl, config.queuePrefix)
  app.addHook('onReady', async () => {
    const fault = await queueReader.connect()
    if (fault !== undefined) app.log.warn(fault)
  })
  app.addHook('onClose', () => queueReader.close())

  const database = config.databaseUrl === undefined ? undefined : openDatabase(config.databaseUrl, 2)
  app.addHook('onClose', () => database?.close())
  const names = database && new StoredJobNames(database)
  // Not awaited: a board without Postgres starts, too.
  app.addHook('onReady', async () => void names?.prepare())

  addMetrics(app, config, queueReader)
  // In the order in which they handle a request.
  addLogin(app, config)
  addWriteGuard(app, config)

  await app.register(probeRoutes, { queueReader })
  await app.register(boardRoutes, { ...config, queueReader, names })
  return app
}
