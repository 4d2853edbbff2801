import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { openDatabase } from '@automation/database'
import { readOrExit } from '@automation/environment'
import { openQueue } from '@automation/inbox'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { readConfig } from './config.js'
import { openProbes } from './probes.js'
import { startRetention } from './retention.js'
import { startSweeper } from './sweeper.js'
import { startWorker } from './worker.js'

const config = readOrExit(readConfig)
const log = pino({ level: config.logLevel })
const database = openDatabase(config.databaseUrl, config.databasePool)
const queue = openQueue(config.redisUrl, config.queuePrefix)
// Prisma's first query of a process takes a quarter of a second: not at the cost of the first event.
await database.system.$queryRaw`SELECT 1`.catch(() =>
  log.warn('Postgres is away; events wait until it is there'),
)
const worker = startWorker(config, database, queue, log)
const sweeper = startSweeper(database, queue, log)
const retention = startRetention(database, log)
const probes = openProbes({ ...worker, database })

closeWithGrace({ delay: 25_000, logger: log }, async ({ err }) => {
  if (err) log.error({ err }, 'closing after a fault')
  probes.close()
  await sweeper.stop()
  await retention.stop()
  await worker.close()
  await queue.close()
  await database.close()
})
// Whoever started this process over an IPC channel learns when it works, and takes it along when it goes.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

await worker.ready()
const { host, port } = config.probes
if (port !== undefined) await once(probes.listen(port, host), 'listening')
log.info({ concurrency: config.concurrency, probes: probes.address() ?? 'none' }, 'worker ready')
process.send?.({ ready: true, port: (probes.address() as AddressInfo | null)?.port })
