import { type Aim, medianRatio } from '../aims.js'
import type { Plan } from '../benchmark.js'
import type { Options } from '../options.js'
import { alignColumns, median } from '../report.js'
import { planConditions } from './conditions.js'
import { type Contest, type Round, runRound } from './contest.js'
import { planPlaceholders } from './placeholders.js'
import { planRuleSets } from './rule-sets.js'

interface Result {
  contest: string
  side: string
  nanoseconds: number
  /** The median of the rounds' ratios: the time of the other side, divided by ours. */
  ratio: number
  rounds: number[]
}

/** The engine, compared with other libraries for the same work, in this process and without servers. */
export function planEngine({ only, rounds, seconds }: Options): Plan {
  return {
    workers: null,
    async run() {
      const all = [...(await planConditions()), ...(await planPlaceholders()), ...(await planRuleSets())]
      const contests = all.filter(({ name }) => name.includes(only))
      if (contests.length === 0)
        throw new Error(`--only ${only} is in none of ${all.map(({ name }) => name).join(', ')}`)
      const ofContests = await runRounds(contests, rounds, seconds)
      const results = [...ofContests].flatMap(([contest, ofRounds]) => summarize(contest, ofRounds))
      const aims = [...ofContests].flatMap(([contest, ofRounds]) => listAims(contest, ofRounds))
      return { results, aims, text: formatTable(results) }
    },
  }
}

async function runRounds(
  contests: Contest[],
  rounds: number,
  seconds: number,
): Promise<Map<Contest, Round[]>> {
  const ofContests = new Map<Contest, Round[]>(contests.map((contest) => [contest, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [contest, ofRounds] of ofContests) {
      const figures = await runRound(contest, seconds)
      ofRounds.push(figures)
      console.error(`round ${round}/${rounds}  ${contest.name}  ${figures.map(Math.round).join(' : ')} ns`)
    }
  }
  return ofContests
}

function summarize({ name, sides }: Contest, ofRounds: Round[]): Result[] {
  return sides.map((side, place) => {
    const rounds = figuresOf(ofRounds, place)
    const ratio = medianRatio(rounds, figuresOf(ofRounds, 0))
    return { contest: name, side: side.name, nanoseconds: median(rounds), ratio, rounds }
  })
}

function listAims({ name, sides, aim }: Contest, ofRounds: Round[]): Aim[] {
  if (aim === undefined) return []
  const reached = medianRatio(figuresOf(ofRounds, 1), figuresOf(ofRounds, 0))
  return [{ title: `${name}: rate, of ${sides[1]?.name}'s`, reached, ...aim, digits: 1 }]
}

function figuresOf(ofRounds: Round[], place: number): number[] {
  return ofRounds.map((round) => round[place] ?? Number.NaN)
}

function formatTable(results: Result[]): string {
  const rows = results.map(({ contest, side, nanoseconds, ratio }) => [
    contest,
    side,
    nanoseconds < 1_000 ? nanoseconds.toFixed(0) : Math.round(nanoseconds).toLocaleString('en-US'),
    ratio.toFixed(ratio < 100 ? 1 : 0),
  ])
  return alignColumns([['contest', 'side', 'ns', 'times ours'], ...rows])
}
