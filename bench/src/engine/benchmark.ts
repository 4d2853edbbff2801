import { listAims, type WantedAim } from '../aims.js'
import { type Benchmark, choose } from '../benchmark.js'
import { orderOfRound } from '../rounds.js'
import { Table } from '../table.js'
import { planConditions } from './conditions.js'
import { type Contest, runRound } from './contest.js'
import { planRuleSets } from './rule-sets.js'

/** The engine, compared with another library for the same work, in this process and without servers. */
export const engine: Benchmark = {
  about: 'the engine by itself, compared with json-rules-engine, and with many rules; without servers',
  seconds: 0.5,
  rounds: 6,
  async run({ only, rounds, seconds }) {
    const all = [...(await planConditions()), ...(await planRuleSets())]
    const contests = choose(all, only)
    const table = new Table()
    for (let round = 1; round <= rounds; round++)
      for (const contest of orderOfRound(contests, round)) {
        const times = await runRound(contest, seconds)
        contest.sides.forEach(({ name }, place) => {
          const ns = times[place] ?? Number.NaN
          table.add(`${contest.label}: ${name}`, { ns, 'times ours': ns / (times[0] ?? Number.NaN) })
        })
      }
    return { tables: [table], aims: listAims(table.lines, contests.flatMap(listWanted)) }
  },
}

/** The time of the last side, divided by that of one of ours. */
function listWanted({ label, sides, aims = [] }: Contest): WantedAim[] {
  const last = sides.at(-1)?.name
  return aims.map(({ ours, atLeast }) => ({
    title: `${label}: rate of ${ours}, of ${last}`,
    of: [`${label}: ${last}`, 'ns'],
    dividedBy: [`${label}: ${ours}`, 'ns'],
    atLeast,
  }))
}
