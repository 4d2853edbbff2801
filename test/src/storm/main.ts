import { CannotStart } from '@automation/launcher'
import { runMemoryStorm } from './memory.js'
import { type Options, readOptions, usage } from './options.js'
import { runStormOfSchedules } from './schedules/main.js'
import { runStorm, type StormReport } from './storm.js'
import { runWaitsStorm } from './waits.js'

const toldAtMost = 20

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit()
}
if (process.argv.includes('--schedules')) process.exit(await runStormOfSchedules(process.argv.slice(2)))
const options = readOptionsOrExit()
// An ordinary end takes all processes with it, those that are asleep included; they would not hear of any other.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
console.log(`Storm of seed ${options.seed}: ${options.events} events, ${options.faults} faults`)
const code = await run(options).catch((error: Error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  return 1
})
// The migration's pool would keep the process for another ten seconds.
process.exit(code)

async function run(options: Options): Promise<number> {
  const start = performance.now()
  const passed = () => `${seconds(performance.now() - start)} s`
  const tell = options.verbose ? (line: string) => console.log(`${passed()}: ${line}`) : () => {}
  if (options.waits || options.memory) {
    const { violations, ...counts } = options.memory
      ? await runMemoryStorm({ ...options, tell })
      : await runWaitsStorm({ ...options, races: options.events, tell })
    for (const violation of violations.slice(0, toldAtMost)) console.log(`VIOLATION ${violation}`)
    console.log(`${JSON.stringify(counts)}; violations ${violations.length}; ${passed()} in all`)
    return violations.length === 0 ? 0 : 1
  }
  const report = await runStorm({ ...options, tell })
  for (const violation of report.violations.slice(0, toldAtMost)) console.log(`VIOLATION ${violation}`)
  console.log(`${describe(report)}; ${passed()} in all`)
  return report.violations.length === 0 && report.drainMs !== undefined ? 0 : 1
}

function describe(report: StormReport): string {
  const { calls, faults, drainMs, failedStarts, hostile } = report
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`)
  const { tables, keys, files } = report.searched
  const count = [...faults.values()].reduce((sum, one) => sum + one, 0)
  return [
    `seed ${report.seed}`,
    `${report.acknowledged} events acknowledged, ${report.events} stored, ${report.edits} changes acknowledged`,
    `calls ok ${calls.ok}, failed ${calls.failed}, unknown ${calls.unknown}, of them repeats ${report.repeats}`,
    `hostile requests ${hostile.requests}, events ${hostile.events}, of them quarantined ${hostile.quarantined}, most caused by one ${hostile.mostCaused}`,
    `calls that are never repeated ${report.once}, switch-offs ${report.switchOffs}, leaves exchanged ${report.leaves}`,
    `target called ${report.target.calls} times, of them repeats ${report.target.repeats}`,
    `${count} faults (${kinds.join(', ')}), ${failedStarts} failed starts`,
    drainMs === undefined ? 'NOT DRAINED' : `drained in ${seconds(drainMs)} s`,
    `compared ${report.compared.backtests} verdicts of backtests, ${report.compared.why} of why`,
    `searched ${tables} tables, ${keys} keys and ${files} files for secrets`,
    `violations ${report.violations.length}`,
  ].join('; ')
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}

function readOptionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
