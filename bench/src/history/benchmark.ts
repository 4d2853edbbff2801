import { tmpdir } from 'node:os'
import { listAims, type WantedAim } from '../aims.js'
import { type Benchmark, choose, type Options } from '../benchmark.js'
import { runOnProduct } from '../product.js'
import { measureRounds } from '../rounds.js'
import { type Figures, formatNumber, Table } from '../table.js'
import { bytesNeeded, gigabytes, requireSpace } from './disk.js'
import { alone, besideRetention, LiveLoads } from './live-loads.js'
import { measurePast, type Question, questions, trigger } from './measure-past.js'
import { openHistories, type Past, type PastSize } from './open-histories.js'
import { measureVacuums } from './storage.js'

const workspaces = 10
/** A page of a search reads so many. */
const smallEvents = 20_000
const oldWeek = 'a week that becomes old'

interface Scenario {
  label: string
  size: PastSize
  isSmall: boolean
  question: Question
}

/** What a long history does to everything, and how fast it is removed. */
export const history: Benchmark = {
  about: 'with 30 million stored events (--stored): triggers and reads, retention, sizes, vacuum',
  seconds: 10,
  rounds: 5,
  stored: 30_000_000,
  async run(options) {
    const [small, large] = sizesOf(options.stored)
    const scenarios = listScenarios(small, large)
    const labels = choose([...scenarios, alone, besideRetention], options.only).map(({ label }) => label)
    const isChosen = ({ label }: { label: string }) => labels.includes(label)
    await announceSpace(options)
    return runOnProduct(options, { apis: 0, workers: 0 }, ({ product: servers }) =>
      openHistories(servers, [small, large], options, async (pasts) => {
        const past = pasts.get(large.label) as Past
        const storage = new Table()
        for (const line of past.stored) storage.add(...line)
        const asked = await measureRounds(scenarios.filter(isChosen), options.rounds, (scenario) =>
          measurePast(servers, pasts.get(scenario.size.label) as Past, scenario, options.seconds),
        )
        const live = new LiveLoads(servers, past)
        const loads = new Table()
        for (let round = 1; round <= options.rounds; round++) {
          if (isChosen(alone)) loads.add(alone.label, await live.measureAlone(options.seconds))
          if (!isChosen(besideRetention)) continue
          const add = (figures: Figures) => loads.add(besideRetention.label, figures)
          storage.add(oldWeek, await live.measureRetention(options.seconds, add))
        }
        for (const line of await measureVacuums(past.stage.postgres, 'at the end')) storage.add(...line)
        const lines = [...asked.lines, ...loads.lines, ...storage.lines]
        const tables = [asked, loads, storage].filter((table) => table.lines.length > 0)
        return { tables, aims: listAims(lines, wantedOf(scenarios, small)) }
      }),
    )
  },
}

/** A short history has as many events as the workspace of the long one that is asked, and never more than a search reads. */
export function sizesOf(stored: number): [small: PastSize, large: PastSize] {
  const sizeOf = (events: number, count: number) => ({
    label: `${formatNumber(events)} stored events`,
    ...{ events, workspaces: count },
  })
  return [sizeOf(Math.min(smallEvents, Math.ceil(stored / workspaces)), 1), sizeOf(stored, workspaces)]
}

function listScenarios(small: PastSize, large: PastSize): Scenario[] {
  return questions.flatMap((question) =>
    [small, large].map((size) => ({
      label: `${question.name}, ${size.label} @${question.connections}`,
      ...{ size, isSmall: size === small, question },
    })),
  )
}

/** Refuses before anything is started, and says what a run needs. */
async function announceSpace({ stored }: Options): Promise<void> {
  const needed = bytesNeeded(stored)
  const { freeBytes } = await requireSpace(tmpdir(), needed)
  console.error(
    `${formatNumber(stored)} stored events need ${gigabytes(needed)} in ${tmpdir()}, which has ${gigabytes(freeBytes)} free. All of it is removed at the end`,
  )
}

function wantedOf(scenarios: Scenario[], small: PastSize): WantedAim[] {
  const pairs = scenarios.flatMap(({ label, question, isSmall }) => {
    const other = scenarios.find((scenario) => scenario.isSmall && scenario.question === question)
    return isSmall || other === undefined || question.requestsOf === undefined
      ? []
      : [{ label, question, other }]
  })
  return [
    ...pairs.map(({ label, other }) => ({
      title: `${label}: rate, of ${small.label}`,
      of: [label, 'accepted/s'] as [string, string],
      dividedBy: [other.label, 'accepted/s'] as [string, string],
      atLeast: 1 / 1.3,
    })),
    ...pairs
      .filter(({ question }) => question.name === trigger)
      .map(({ label, other }) => ({
        title: `${label}: CPU an event, of ${small.label}`,
        of: [label, 'all'] as [string, string],
        dividedBy: [other.label, 'all'] as [string, string],
        atMost: 1.1,
      })),
    {
      title: 'rows that retention removes, of those that live load adds',
      of: [oldWeek, 'removed, of added'],
      atLeast: 2,
    },
  ]
}
