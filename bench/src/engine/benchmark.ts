import { type Aim, createAim, ratiosOf } from '../aims.js'
import type { Plan } from '../benchmark.js'
import type { Options } from '../options.js'
import { alignColumns, whole } from '../report.js'
import { takeTurns } from '../rounds.js'
import { median, rangeOf } from '../statistics.js'
import { planConditions } from './conditions.js'
import { type Contest, type Round, runRound } from './contest.js'
import { planPlaceholders } from './placeholders.js'
import { planRuleSets } from './rule-sets.js'

export interface ContestResult {
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
      const ofContests = await takeTurns(contests, rounds, async (contest, round) => {
        const figures = await runRound(contest, seconds)
        console.error(`round ${round}/${rounds}  ${contest.name}  ${figures.map(Math.round).join(' : ')} ns`)
        return figures
      })
      const results = [...ofContests].flatMap(([contest, ofRounds]) => summarize(contest, ofRounds))
      const aims = [...ofContests].flatMap(([contest, ofRounds]) => listAims(contest, ofRounds))
      return { results, aims, text: alignColumns([contestsHead, ...results.map(describeContest)]) }
    },
  }
}

function summarize({ name, sides }: Contest, ofRounds: Round[]): ContestResult[] {
  return sides.map((side, place) => {
    const rounds = figuresOf(ofRounds, place)
    const ratio = median(ratiosOf(rounds, figuresOf(ofRounds, 0)))
    return { contest: name, side: side.name, nanoseconds: median(rounds), ratio, rounds }
  })
}

function listAims({ name, sides, aims = [] }: Contest, ofRounds: Round[]): Aim[] {
  const last = sides.length - 1
  return aims.map(({ ours, atLeast }) => {
    const place = sides.findIndex((side) => side.name === ours)
    const rounds = ratiosOf(figuresOf(ofRounds, last), figuresOf(ofRounds, place))
    return createAim({
      title: `${name}: rate of ${ours}, of ${sides[last]?.name}`,
      rounds,
      atLeast,
      digits: 1,
    })
  })
}

function figuresOf(ofRounds: Round[], place: number): number[] {
  return ofRounds.map((round) => round[place] ?? Number.NaN)
}

export const contestsHead = ['contest', 'side', 'ns', 'lowest to highest round', 'times ours']

export function describeContest({ contest, side, nanoseconds, ratio, rounds }: ContestResult): string[] {
  const { low, high } = rangeOf(rounds)
  const range = `${formatFew(low)} to ${formatFew(high)}`
  return [contest, side, formatFew(nanoseconds), range, formatFew(ratio)]
}

function formatFew(value: number): string {
  return value < 100 ? value.toFixed(1) : whole(value)
}
