import type { ApiProcess, Product } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import { drainBacklog } from '../backlog.js'
import { type ProductPlan, runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf } from '../cpu-time.js'
import { type Figures, measure } from '../measure.js'
import { chooseMeasurements, type Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import { formatTable, type Result } from '../report.js'
import { startYardsticks } from '../yardsticks/start-yardstick.js'
import { formatRatios, listAims } from './ratios.js'
import { type IngestScenario, type Receiver, scenarios } from './scenarios.js'
import { createSender, deliverKnown, deliverNew, type Sender } from './sender.js'

/** The shared state of all measurements of one run. */
interface Stage extends Connections {
  product: Product
  receivers: Record<Receiver, ApiProcess>
  sender: Sender
}

/** From a provider's delivery until it is accepted, compared with plain services that do the same. */
export function planIngest(options: Options): ProductPlan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    // The measurement that needs a worker starts it.
    workers: 0,
    async run(product) {
      const results = await withConnections(product, (connections) =>
        runIngest(product, connections, measurements, options),
      )
      const text = `${formatTable(results)}\n\n${formatRatios(results)}`.trimEnd()
      return { results, aims: listAims(results), text }
    },
  }
}

async function runIngest(
  product: Product,
  connections: Connections,
  measurements: Measurement<IngestScenario>[],
  { rounds, seconds }: Options,
): Promise<Result[]> {
  const sender = await createSender(connections.database, product)
  const own = { SIGNING_KEY: readSigningKey(sender.secret).toString('base64') }
  return startYardsticks(product, { plain: own, grouping: own }, ({ plain, grouping }) => {
    const receivers = { plain, grouping, product: product.apis[0] as ApiProcess }
    const stage = { ...connections, product, receivers, sender }
    return runRounds(measurements, rounds, (measurement) => measureIngest(stage, measurement, seconds))
  })
}

async function measureIngest(
  { database, redis, product, receivers, sender }: Stage,
  { scenario, connections }: Measurement<IngestScenario>,
  seconds: number,
): Promise<Figures> {
  await clearTraces(database, redis, 'yardstick_plain', 'yardstick_grouping')
  const receiver = receivers[scenario.receiver]
  const { baseUrl } = receiver
  const worker = scenario.hasWorker ? await product.startWorker() : undefined
  try {
    const delivery = scenario.isReplay ? await deliverKnown(baseUrl, sender) : deliverNew(baseUrl, sender)
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
