import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  clockAheadMs,
  databaseLimitsOf,
  findDatabaseFault,
  openDatabase,
  PrimaryWatch,
  readClock,
} from '@automation/database'
import { defaultWorkLimits } from '@automation/engine'
import {
  countCancellations,
  countHighRows,
  countWaiting,
  createOldestDue,
  readLeafWaits,
} from '@automation/ledger'
import { readOrExit, waitOrExit } from '@automation/process/settings'
import {
  logLibraries,
  logOptions,
  openMetrics,
  openTracing,
  registerBacklog,
  registerBacktests,
  registerCancellations,
  registerClock,
  registerLeaves,
  registerPool,
  registerWaiting,
  registerWorkspaces,
} from '@automation/process/telemetry'
import { ClockWatch, openQueue } from '@automation/queue'
import { countBacktests, readClosedSeconds } from '@automation/rules'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { awaitStart } from './await-start.js'
import { startBacktests } from './backtests/run-backtests.js'
import { SlicesInThread } from './backtests/slices-in-thread.js'
import { readConfig } from './config.js'
import { openProbes } from './probes.js'
import { startGuards } from './repair/guards.js'
import { startSilences } from './repair/silences.js'
import { startSweeper } from './repair/sweeper.js'
import { startErasures } from './retention/erasures.js'
import { startExchanges } from './retention/exchanges.js'
import { startLeaves } from './retention/leaves.js'
import { startRetention } from './retention/retention.js'
import { startWorker } from './worker.js'
import { createWorkerMetrics } from './worker-metrics.js'

/** A Redis that has not responded in no time is not away. */
const connectMs = 500

const config = readOrExit(readConfig)
logLibraries('worker', config.logLevel)
const { stream, ...logging } = logOptions('worker', config.logLevel)
const log = pino(logging, stream)
const watch = new PrimaryWatch((line) => log.warn(line))
const database = openDatabase(
  config.databaseUrl,
  config.databasePool,
  databaseLimitsOf(config.databasePool),
  watch,
)
const queue = openQueue(config.redisUrl, config.queuePrefix, config.queues)
const metrics = openMetrics()
const tracing = config.observability.isTraced
  ? await openTracing('automation-worker', (message) => log.warn(message))
  : undefined
const findOldestDueSeconds = createOldestDue(database)
let work: ReturnType<typeof startWork> | undefined
let erasures: ReturnType<typeof startErasures> | undefined
let leaves: ReturnType<typeof startLeaves> | undefined
let isPaused = false
const probes = openProbes(
  findOldestDueSeconds,
  () => work?.probed,
  () => isPaused,
)

closeWithGrace({ delay: 25_000, logger: log }, async ({ err }) => {
  if (err) log.error({ err }, 'shutting down after an error')
  probes.close()
  metrics.close()
  await Promise.all([work?.stop(), erasures?.stop(), leaves?.stop()])
  await queue.close()
  await database.close()
  await tracing?.close()
})
// A parent process with an IPC channel is notified when this process is ready, and this process ends with its parent.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

const { host, port } = config.probes
if (port !== undefined) await once(probes.listen(port, host), 'listening')
const metricsPort = await listenForScrapes()
await waitOrExit(
  [
    { name: 'Postgres', findFault: () => findDatabaseFault(database) },
    { name: 'Redis', findFault: () => queue.findFault(connectMs) },
  ],
  log,
)
// Prisma's first query of a process takes a quarter of a second; it must not delay the first event. What the first event makes due is by Postgres' clock.
await Promise.all([database.system.$queryRaw`SELECT 1`, readClock(database)]).catch(() =>
  log.warn('Postgres is unavailable again'),
)
// Also while it is paused: what was erased must not be used again.
erasures = startErasures(database, config.encryptionKey, log)
// Events are accepted meanwhile. A leaf in the making that the backup had would refuse them.
leaves = startLeaves(config.databaseUrl, config.retentionDays, log)
await awaitStart(database, log, () => {
  isPaused = true
  tellParent()
})
work = startWork()
isPaused = false
await work.worker.ready()
await work.clocks.start().catch(() => log.warn('Postgres is unavailable again'))
log.info({ concurrency: config.concurrency, probes: probes.address() ?? 'none' }, 'worker ready')
tellParent()

function tellParent(): void {
  process.send?.({ ready: true, port: (probes.address() as AddressInfo | null)?.port, metricsPort })
}

/** What it knows may be of another past. It ends in order, with code 1, and its supervisor starts it again: then it is paused. */
function endRestored(): void {
  queueMicrotask(() => {
    throw new Error('the database was restored under this worker, which ends: the next one is paused')
  })
}

async function listenForScrapes(): Promise<number | undefined> {
  const { metricsPort } = config.observability
  if (metricsPort === undefined) return undefined
  metrics.gauge(
    'automation_paused',
    'Whether this worker runs nothing since the database was restored, until the operator starts the workers: 1 or 0',
    () => Number(isPaused),
  )
  registerPool(metrics, database.poolUse)
  registerClock(metrics, clockAheadMs)
  registerBacklog(metrics, { findOldestDueSeconds, countJobs: () => queue.countJobs() })
  registerCancellations(metrics, () => countCancellations(database))
  registerLeaves(
    metrics,
    () => countHighRows(database),
    () => readLeafWaits(database),
  )
  registerWaiting(metrics, () => countWaiting(database))
  registerWorkspaces(metrics, () => readClosedSeconds(database))
  registerBacktests(metrics, () => countBacktests(database))
  return metrics.listen(metricsPort, host)
}

function startWork() {
  const workerMetrics = createWorkerMetrics(metrics)
  const worker = startWorker(config, database, queue, log, workerMetrics, tracing)
  const clocks = new ClockWatch({
    ...{ kind: 'worker', database, redis: worker.redis, prefix: config.queuePrefix, log },
  })
  const sweeper = startSweeper(database, queue, log, workerMetrics, { onRestore: endRestored })
  const guards = startGuards(database, log)
  const silences = startSilences(database, log)
  const retention = startRetention(database, config.retentionDays, log)
  const { databaseUrl, retentionDays } = config
  const exchanges = startExchanges(retentionDays, { database, log, metrics: workerMetrics })
  const limits = { workLimits: defaultWorkLimits, retentionDays }
  const slices = new SlicesInThread({ databaseUrl, databaseLimits: databaseLimitsOf(1), limits })
  const backtests = startBacktests(database, slices, defaultWorkLimits, log, workerMetrics)
  return {
    worker,
    clocks,
    probed: { ...worker, clock: () => clocks.state },
    stop: () =>
      Promise.all([
        clocks.stop(),
        sweeper.stop(),
        guards.stop(),
        silences.stop(),
        retention.stop(),
        exchanges.stop(),
        backtests.stop(),
        worker.close(),
      ]),
  }
}
