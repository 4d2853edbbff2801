import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { CannotStart } from '@automation/launcher'
import { type FidelityReport, runFidelity } from './run-fidelity.js'

const usage = `npm run fidelity -- [--events 20000] [--seed N] [--asked 500] [--verbose]

  --events   so many are evaluated by workers while rules change and workers die; then backtests and why are compared with what happened
  --seed     the same rules, changes and kills in the same order; any other one where it is not named
  --asked    so many of them are explained over HTTP, too
  --verbose  prints how far it is`

const toldAtMost = 20
const startedAt = performance.now()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const code = await run(readOptionsOrExit()).catch((error: Error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  return 1
})
// The migration's pool would keep the process for another ten seconds.
process.exit(code)

async function run(options: Options): Promise<number> {
  console.log(`Fidelity of seed ${options.seed}: ${options.events} events`)
  const tell = options.verbose ? (line: string) => console.log(`${passed()}: ${line}`) : () => {}
  const report = await runFidelity({ ...options, tell })
  for (const violation of report.violations.slice(0, toldAtMost)) console.log(`DIFFERENCE ${violation}`)
  console.log(`seed ${options.seed}; ${describe(report)}; ${passed()}`)
  return report.violations.length === 0 ? 0 : 1
}

function describe({ steps, verdicts, ranges, why, whyOverHttp, ...report }: FidelityReport): string {
  return [
    `${report.stored} events stored, of them quarantined ${report.quarantined}`,
    `steps (${[...steps].map(([name, count]) => `${name} ${count}`).join(', ')})`,
    `compared ${verdicts.compared} verdicts of backtests, of them with an execution ${verdicts.matched}`,
    `${ranges.compared} backtests by workers over ${ranges.events} events, of them over the whole run ${ranges.whole}`,
    `why of ${why.events} events and ${why.compared} rules, over HTTP of ${whyOverHttp.compared} rules`,
    `differences ${report.violations.length}`,
  ].join('; ')
}

interface Options {
  events: number
  seed: number
  asked: number
  verbose: boolean
}

function readOptionsOrExit(): Options {
  try {
    const { values } = parseArgs({
      options: {
        events: { type: 'string', default: '20000' },
        seed: { type: 'string', default: `${randomInt(1, 1_000_000)}` },
        asked: { type: 'string', default: '500' },
        verbose: { type: 'boolean', default: false },
      },
    })
    const [events, seed, asked] = [values.events, values.seed, values.asked].map(readCount)
    return { events, seed, asked, verbose: values.verbose } as Options
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

function readCount(text: string): number {
  const count = Number(text)
  if (!(Number.isInteger(count) && count > 0)) throw new Error(`${text} has to be a whole number above 0`)
  return count
}

function passed(): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
}
