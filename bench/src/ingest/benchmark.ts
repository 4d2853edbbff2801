import { type Database, openDatabase } from '@automation/database'
import type { ApiProcess, Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import { Redis } from 'ioredis'
import { drainBacklog } from '../backlog.js'
import { type Plan, runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { pidsOf } from '../cpu-time.js'
import { type Figures, measure } from '../measure.js'
import { chooseMeasurements, type Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import { formatTable, type Result } from '../report.js'
import { startYardstick } from '../yardsticks/start-yardstick.js'
import { formatRatios, listAims } from './ratios.js'
import { type IngestScenario, scenarios } from './scenarios.js'
import { createSender, deliverNew, replayOne, type Sender } from './sender.js'

/** The shared state of all measurements of one run. */
interface Stage {
  database: Database
  redis: Redis
  product: Product
  yardstick: ApiProcess
  sender: Sender
}

/** From a provider's delivery until it is accepted, compared with a plain service that does the same. */
export function planIngest(options: Options): Plan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    // None, as in the yardstick. The measurement that needs a worker starts it.
    workers: 0,
    async run(product) {
      const results = await runIngest(product, measurements, options)
      const text = `${formatTable(results)}\n\n${formatRatios(results)}`.trimEnd()
      return { results, aims: listAims(results), text }
    },
  }
}

async function runIngest(
  product: Product,
  measurements: Measurement<IngestScenario>[],
  { rounds, seconds }: Options,
): Promise<Result[]> {
  const database = openDatabase(product.databaseUrl, 1)
  const redis = new Redis(product.redisUrl)
  try {
    const sender = await createSender(database, product)
    const yardstick = await startYardstick(product, 'ingest', {
      SIGNING_KEY: readSigningKey(sender.secret).toString('base64'),
    })
    try {
      const stage = { database, redis, product, yardstick, sender }
      return await runRounds(measurements, rounds, (measurement) =>
        measureIngest(stage, measurement, seconds),
      )
    } finally {
      await yardstick.stop()
    }
  } finally {
    redis.disconnect()
    await database.close()
  }
}

async function measureIngest(
  { database, redis, product, yardstick, sender }: Stage,
  { scenario, connections }: Measurement<IngestScenario>,
  seconds: number,
): Promise<Figures> {
  await clearTraces(database, redis, 'yardstick_webhooks')
  const receiver = scenario.receiver === 'yardstick' ? yardstick : (product.apis[0] as ApiProcess)
  const { baseUrl } = receiver
  const worker = scenario.hasWorker ? await product.startWorker() : undefined
  try {
    const delivery = scenario.isReplay ? await replayOne(baseUrl, sender) : deliverNew(baseUrl, sender)
    return await measure({
      order: { ...delivery, connections },
      pids: pidsOf(product, [receiver], worker ? [worker] : []),
      seconds,
      drain: worker && (() => drainBacklog(database)),
    })
  } finally {
    await worker?.stop()
  }
}
