import type { ApiProcess } from '@automation/launcher'
import { readSigningKey } from '@automation/webhooks'
import { listAims, type WantedAim } from '../aims.js'
import { drainBacklog } from '../backlog.js'
import { type Benchmark, choose } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { pidsOf } from '../cpu-time.js'
import { measure } from '../measure.js'
import { runOnProduct, type Stage } from '../product.js'
import { measureRounds } from '../rounds.js'
import type { Figures } from '../table.js'
import { startYardsticks } from '../yardsticks/start-yardstick.js'
import { createSender, deliverKnown, deliverNew, type Sender } from './sender.js'

/** The deliveries, and the server that gets them. */
interface Scenario {
  label: string
  receiver: 'plain' | 'grouping' | 'product'
  connections: number
  /** Whether a worker runs the events meanwhile. */
  hasWorker?: boolean
  /** Repeats known deliveries; otherwise each delivery is new. */
  isReplay?: boolean
}

const plain = { name: 'plain service', receiver: 'plain' as const }
const grouping = { name: 'plain service, group commit', receiver: 'grouping' as const }
const alone = { name: 'product, no worker', receiver: 'product' as const }
const working = { name: 'product and worker', receiver: 'product' as const, hasWorker: true }

const scenarios: Scenario[] = [
  ...[64, 1].flatMap((connections) =>
    [plain, grouping, alone, working].map(({ name, ...server }) => ({
      label: `${name} @${connections}`,
      ...{ ...server, connections },
    })),
  ),
  ...[plain, grouping, alone].map(({ name, ...server }) => ({
    label: `${name}, replays @64`,
    ...{ ...server, connections: 64, isReplay: true },
  })),
]

const wanted: WantedAim[] = [
  compare('webhooks, worker running: accepted/s of a plain service', working, plain, { atLeast: 1.2 }),
  compare('webhooks, worker running: accepted/s of one with group commit', working, grouping, {
    atLeast: 0.9,
  }),
  compare('webhooks, no worker: accepted/s of a plain service', alone, plain, { atLeast: 1 }),
  compare('webhooks, no worker: p99 of a plain service', alone, plain, { atMost: 1.5 }, 'p99 ms'),
]

function compare(
  title: string,
  ours: { name: string },
  theirs: { name: string },
  bounds: Pick<WantedAim, 'atLeast' | 'atMost'>,
  column = 'accepted/s',
): WantedAim {
  return { title, of: [`${ours.name} @64`, column], dividedBy: [`${theirs.name} @64`, column], ...bounds }
}

/** From a provider's delivery until it is accepted, compared with plain services that do the same. */
export const ingest: Benchmark = {
  about: "from a provider's webhook until it is accepted, compared with two plain services that do the same",
  seconds: 4,
  rounds: 6,
  async run(options) {
    const measurements = choose(scenarios, options.only)
    // The measurement that needs a worker starts it.
    return runOnProduct(options, { workers: 0 }, async (stage) => {
      const sender = await createSender(stage.database, stage.product)
      const own = { SIGNING_KEY: readSigningKey(sender.secret).toString('base64') }
      const table = await startYardsticks(stage.product, { plain: own, grouping: own }, (yardsticks) => {
        const receivers = { ...yardsticks, product: stage.product.apis[0] as ApiProcess }
        return measureRounds(measurements, options.rounds, (scenario) =>
          measureIngest(stage, scenario, receivers[scenario.receiver], sender, options.seconds),
        )
      })
      return { tables: [table], aims: listAims(table.lines, wanted) }
    })
  },
}

async function measureIngest(
  stage: Stage,
  { label, connections, hasWorker, isReplay }: Scenario,
  receiver: ApiProcess,
  sender: Sender,
  seconds: number,
): Promise<Figures> {
  const { product, database } = stage
  await clearTraces(stage, 'yardstick_plain', 'yardstick_grouping')
  const worker = hasWorker ? await product.startWorker() : undefined
  try {
    const { baseUrl } = receiver
    const delivery = isReplay ? await deliverKnown(baseUrl, sender) : deliverNew(baseUrl, sender)
    return await measure(stage, {
      label,
      order: { ...delivery, connections },
      pids: pidsOf(product, [receiver], worker ? [worker] : []),
      seconds,
      ...(worker && { done: () => drainBacklog(database) }),
    })
  } finally {
    await worker?.stop()
  }
}
