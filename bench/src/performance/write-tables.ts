import { isMet, tellReached, tellWanted } from '../aims.js'
import type { Cache } from '../growth/rules.js'
import type { BenchmarkName } from '../options.js'
import { sumCpu, whole } from '../report.js'
import { modelCosts } from './cost-model.js'
import type { Performance } from './performance.js'
import { partNames, resultsOf } from './results-of.js'

const titles: [name: BenchmarkName, title: string][] = [
  ['events', 'Events'],
  ['ingest', 'Webhooks'],
  ['growth', 'Growth'],
  ['scale', 'Scale out'],
  ['engine', 'The engine by itself'],
]

/** The results in Markdown: the aims, and then the lines of each benchmark. */
export function writeTables(performance: Performance): string {
  const { node, machine, at, seconds, rounds } = performance
  const run = `${at.slice(0, 10)}, Node ${node}, ${machine}, ${rounds} rounds of ${seconds} s.`
  const sections = titles.flatMap(([name, title]) => {
    const table = name === 'engine' ? writeContests(performance) : writeResults(performance, name)
    const more = name === 'growth' ? `\n\n${writeCaches(performance)}`.trimEnd() : ''
    return table === '' ? [] : [`### ${title}\n${table}${more}`]
  })
  const { head, rows } = modelCosts(performance)
  const model = rows.length === 0 ? [] : [`### What more workers need around them\n${writeTable(head, rows)}`]
  return [run, `### What we hold ourselves to\n${writeAims(performance)}`, ...sections, ...model].join('\n\n')
}

function writeAims({ benchmarks }: Performance): string {
  const rows = titles.flatMap(([name]) =>
    (benchmarks[name]?.aims ?? []).map((aim) => [
      aim.title,
      tellReached(aim),
      tellWanted(aim),
      isMet(aim) ? 'yes' : '**no**',
    ]),
  )
  return writeTable(['aim', 'reached', 'wanted', 'met'], rows)
}

function writeResults(performance: Performance, name: BenchmarkName): string {
  const rows = resultsOf(performance, name).map((result) => [
    result.scenario,
    `${result.connections}`,
    result.donePerSecond === null ? '' : whole(result.donePerSecond),
    whole(result.acceptedPerSecond),
    `${result.p50Ms.toFixed(1)} / ${result.p99Ms.toFixed(1)}`,
    ...(Object.keys(partNames) as (keyof typeof partNames)[]).map((part) => {
      const micros = result.cpuMicrosPerEvent[part]
      return micros === undefined ? '' : whole(micros)
    }),
    whole(sumCpu(result)),
  ])
  const head = ['scenario', 'connections', 'done/s', 'accepted/s', 'p50 / p99 ms']
  return rows.length === 0 ? '' : writeTable([...head, ...Object.values(partNames), 'all, µs CPU'], rows)
}

function writeCaches({ benchmarks }: Performance): string {
  const caches = (benchmarks.growth?.results ?? []).filter((result): result is Cache => 'mebibytes' in result)
  const rows = caches.map(({ rules, ms, mebibytes }) => [whole(rules), whole(ms), whole(mebibytes)])
  return rows.length === 0 ? '' : writeTable(['a new worker reads so many rules', 'ms', 'MiB'], rows)
}

interface ContestResult {
  contest: string
  side: string
  nanoseconds: number
  ratio: number
}

function writeContests({ benchmarks }: Performance): string {
  const results = (benchmarks.engine?.results ?? []) as ContestResult[]
  const rows = results.map(({ contest, side, nanoseconds, ratio }) => [
    contest,
    side,
    nanoseconds < 100 ? nanoseconds.toFixed(1) : whole(nanoseconds),
    ratio < 100 ? ratio.toFixed(1) : whole(ratio),
  ])
  return rows.length === 0 ? '' : writeTable(['contest', 'side', 'ns', 'times ours'], rows)
}

/** The first column to the left, all others to the right. */
function writeTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows].map(line).join('\n')
}
