import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { findDatabaseFault, openDatabase } from '@automation/database'
import { readOrExit, waitOrExit } from '@automation/environment'
import { createOldestDue } from '@automation/ledger'
import { openQueue } from '@automation/queue'
import { logOptions, openMetrics, openTracing, tellBacklog, tellPool } from '@automation/telemetry'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { readConfig } from './config.js'
import { openProbes } from './probes.js'
import { startSweeper } from './repair/sweeper.js'
import { startRetention } from './retention/retention.js'
import { startWorker } from './worker.js'
import { createWorkerMetrics } from './worker-metrics.js'

const config = readOrExit(readConfig)
const { stream, ...logging } = logOptions('worker', config.logLevel)
const log = pino(logging, stream)
const database = openDatabase(config.databaseUrl, config.databasePool)
const queue = openQueue(config.redisUrl, config.queuePrefix)
const metrics = openMetrics()
const tracing = config.watching.isTraced
  ? await openTracing('automation-worker', (message) => log.warn(message))
  : undefined
const findOldestDueSeconds = createOldestDue(database)
let work: ReturnType<typeof startWork> | undefined
const probes = openProbes(findOldestDueSeconds, () => work?.worker)

closeWithGrace({ delay: 25_000, logger: log }, async ({ err }) => {
  if (err) log.error({ err }, 'closing after a fault')
  probes.close()
  metrics.close()
  await work?.stop()
  await queue.close()
  await database.close()
  await tracing?.close()
})
// Whoever started this process over an IPC channel learns when it works, and takes it along when it goes.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

const { host, port } = config.probes
if (port !== undefined) await once(probes.listen(port, host), 'listening')
const metricsPort = await listenForScrapes()
await waitOrExit(
  [
    { name: 'Postgres', findFault: () => findDatabaseFault(database) },
    { name: 'Redis', findFault: findRedisFault },
  ],
  { withinSeconds: config.startTimeoutSeconds, log },
)
// Prisma's first query of a process takes a quarter of a second: not at the cost of the first event.
await database.system.$queryRaw`SELECT 1`.catch(() => log.warn('Postgres is away again'))
work = startWork()
await work.worker.ready()
log.info({ concurrency: config.concurrency, probes: probes.address() ?? 'none' }, 'worker ready')
process.send?.({ ready: true, port: (probes.address() as AddressInfo | null)?.port, metricsPort })

async function listenForScrapes(): Promise<number | undefined> {
  const { metricsPort } = config.watching
  if (metricsPort === undefined) return undefined
  tellPool(metrics, database.poolUse)
  tellBacklog(metrics, { findOldestDueSeconds, countJobs: () => queue.countJobs() })
  return metrics.listen(metricsPort, host)
}

function startWork() {
  const counted = createWorkerMetrics(metrics)
  const worker = startWorker(config, database, queue, log, counted, tracing)
  const sweeper = startSweeper(database, queue, log, counted)
  const retention = startRetention(database, config.retentionDays, log, counted)
  return {
    worker,
    stop: () => Promise.all([sweeper.stop(), retention.stop(), worker.close()]),
  }
}

async function findRedisFault(): Promise<string | undefined> {
  return (await queue.isReady(0)) ? undefined : `Redis is away (${new URL(config.redisUrl).host})`
}
