import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { runStorm } from './run-storm.js'

const toldAtMost = 20
const short = { seconds: 120, rules: 200, workers: 3, outageMs: 15_000 }
const small = { seconds: 12, rules: 40, workers: 2, outageMs: 5_000 }
const long = { seconds: 1_500, rules: 1_000, workers: 4, outageMs: 600_000 }

/** `npm run storm -- --schedules [--seed N] [--small | --long]`. @returns the exit code */
export async function runStormOfSchedules(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      schedules: { type: 'boolean' },
      seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
      small: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
  })
  const size = values.small ? small : values.long ? long : short
  const seed = Number(values.seed)
  console.log(`Storm of seed ${seed}: ${size.rules} schedules, ${size.workers} workers`)
  const startedAt = performance.now()
  const { ticks, missed, changes, faults, violations } = await runStorm({ ...size, seed })
  for (const violation of violations.slice(0, toldAtMost)) console.log(`VIOLATION ${violation}`)
  const kinds = [...faults].map(([kind, count]) => `${kind} ${count}`).join(', ')
  console.log(
    `seed ${seed}; ${ticks} ticks, which stand for ${missed} more; ${changes} changes; faults: ${kinds}; violations ${violations.length}; ${((performance.now() - startedAt) / 1_000).toFixed(1)} s in all`,
  )
  return violations.length === 0 ? 0 : 1
}
