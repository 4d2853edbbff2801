import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { CannotStart, makeTemporaryDirectory, startProduct } from '@automation/launcher'
import type { Plan } from './benchmark.js'
import { planEvents } from './events/benchmark.js'
import { planFairness } from './fairness/benchmark.js'
import { planIngest } from './ingest/benchmark.js'
import { type Options, readOptions, usage } from './options.js'

const plans = { events: planEvents, ingest: planIngest, fairness: planFairness }

const { options, plan } = readPlanOrExit()
const code = await run(plan, options).catch((error: Error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  return 1
})
// The migration's pool would keep the process for another ten seconds.
process.exit(code)

async function run({ workers, run }: Plan, options: Options): Promise<number> {
  const directory = await makeTemporaryDirectory()
  try {
    const env = productEnvironment(options)
    const product = await startProduct({ directory: directory.path, workers, durable: true, env })
    try {
      const { results, text } = await run(product)
      const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`
      console.log(`\nNode ${process.version}, ${machine}; API to "all": CPU in µs an event\n`)
      console.log(text)
      if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`)
      return 0
    } finally {
      await product.stop()
    }
  } finally {
    await directory.remove()
  }
}

function productEnvironment({ profile }: Options): Record<string, string> {
  const unlimited = '1000000000/1000000000'
  const limits = {
    RATE_LIMIT_ANONYMOUS: unlimited,
    RATE_LIMIT_AUTHENTICATED: unlimited,
    RATE_LIMIT_ENTERPRISE: unlimited,
  }
  const profiler = { NODE_OPTIONS: `--import=${new URL('./profile-process.js', import.meta.url)}` }
  return {
    LOG_LEVEL: 'warn',
    ...limits,
    ...(profile === undefined ? {} : { ...profiler, PROFILE_DIR: profile }),
  }
}

function readPlanOrExit(): { options: Options; plan: Plan } {
  try {
    const options = readOptions(process.argv.slice(2))
    return { options, plan: plans[options.benchmark](options) }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
