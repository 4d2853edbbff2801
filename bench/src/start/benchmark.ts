import { setTimeout } from 'node:timers/promises'
import type { NodeProcess, Product } from '@automation/launcher'
import type { ProductPlan } from '../benchmark.js'
import { readCpuMicros } from '../cpu-time.js'
import { readMebibytes } from '../machine/memory.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { aimsOf, formatStarted, type Started } from './report.js'

const labels: Started['label'][] = ['API', 'worker']

/** How long a start of each process takes, and the memory that the process then has with nothing to do. */
export function planStart({ rounds, seconds, only }: Options): ProductPlan {
  const chosen = labels.filter((label) => label.includes(only))
  if (chosen.length === 0) throw new Error(`--only ${only} is in no label`)
  return {
    workers: 0,
    async run(product) {
      // The first start reads its files from the disk.
      for (const label of chosen) await measureStart(product, label, 0)
      const figures = await takeTurns(chosen, rounds, async (label, round) => {
        const started = await measureStart(product, label, seconds)
        const { readyMs, mebibytes } = started
        console.error(
          `round ${round}/${rounds}  ${label}  ready in ${Math.round(readyMs)} ms, ${Math.round(mebibytes)} MiB`,
        )
        return started
      })
      const results = [...figures.values()].flat()
      return { results, aims: aimsOf(results), text: formatStarted(results) }
    },
  }
}

async function measureStart(
  product: Product,
  label: Started['label'],
  restSeconds: number,
): Promise<Started> {
  const startedAt = performance.now()
  const started: NodeProcess = await (label === 'API' ? product.startApi() : product.startWorker())
  const readyMs = performance.now() - startedAt
  const readyCpuMs = readCpuMs(started.pid)
  await setTimeout(restSeconds * 1_000)
  const result = {
    label,
    readyMs,
    readyCpuMs,
    restCpuMs: readCpuMs(started.pid),
    mebibytes: await readMebibytes(started.pid),
  }
  await started.stop()
  return result
}

/** NaN on other systems than Linux. */
function readCpuMs(pid: number): number {
  return (readCpuMicros({ api: [pid] }).api ?? Number.NaN) / 1_000
}
