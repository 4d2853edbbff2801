import { aimsHead, describeAim } from '../aims.js'
import { type ContestResult, contestsHead, describeContest } from '../engine/benchmark.js'
import type { Cache } from '../growth/rules.js'
import type { BenchmarkName } from '../options.js'
import { formatRange, medianCpu, type Result, sumCpu, whole } from '../report.js'
import { describeSustained, type SustainedFigures, sustainedHead } from '../sustained/report.js'
import { modelCosts, modelHead } from './cost-model.js'
import { describeRun } from './describe-run.js'
import type { Performance, Run } from './performance.js'
import { partNames, resultsOf } from './results-of.js'

const titles: [name: BenchmarkName, title: string][] = [
  ['sustained', 'Sustained, open loop'],
  ['events', 'Events, closed loop, first seconds of empty tables'],
  ['ingest', 'Webhooks, closed loop, first seconds of empty tables'],
  ['growth', 'Growth'],
  ['scale', 'Scale out'],
  ['engine', 'The engine by itself'],
  ['compare', 'Beside n8n'],
  ['fairness', 'A flood beside quiet workspaces, open loop'],
  ['neighbours', 'Quiet workspaces beside attacks, open loop'],
  ['retention', 'Removing a day of executions, open loop'],
  ['brake', 'Switching a rule off'],
  ['backtest', 'Backtests'],
  ['why', 'Explaining an event'],
  ['start', 'A start, and memory at rest'],
]

/** Benchmarks with results of their own kinds, whose report is shown as it was printed. */
const printed: ReadonlySet<BenchmarkName> = new Set([
  'fairness',
  'neighbours',
  'retention',
  'brake',
  'backtest',
  'why',
  'start',
])

/** All results in Markdown: for each benchmark its command, its circumstances, its aims and its lines. */
export function writeTables(performance: Performance): string {
  const sections = titles.flatMap(([name, title]) => {
    const run = performance[name]
    if (run === undefined) return []
    const tables = [writeLines(performance, name), writeAims(run)].filter((table) => table !== '')
    return [[`### ${title}`, `\`${run.command}\``, describeRun(run), ...tables].join('\n\n')]
  })
  const model = modelCosts(performance)
  if (model.length > 0) sections.push(`### Computed needs\n\n${writeTable(modelHead, model)}`)
  return sections.join('\n\n')
}

function writeLines(performance: Performance, name: BenchmarkName): string {
  const results = performance[name]?.results ?? []
  if (name === 'engine') return writeTable(contestsHead, (results as ContestResult[]).map(describeContest), 2)
  if (name === 'sustained')
    return writeTable(sustainedHead, (results as SustainedFigures[]).map(describeSustained))
  if (printed.has(name)) return `\`\`\`\n${performance[name]?.text}\n\`\`\``
  const lines = writeTable(resultsHead, resultsOf(performance, name).map(describeResult))
  return name === 'growth' ? `${lines}\n\n${writeCaches(results as Cache[])}`.trimEnd() : lines
}

function writeAims({ aims }: Run): string {
  const rows = aims.map(describeAim).map(([title = '', ...others]) => {
    const verdict = others.pop() ?? ''
    return [title, ...others, verdict === 'met' ? verdict : `**${verdict}**`]
  })
  return writeTable(aimsHead, rows)
}

const resultsHead = [
  'scenario',
  'connections',
  'done/s',
  'accepted/s',
  'rounds',
  'p50 / p99 ms',
  'p99 of rounds',
  ...Object.values(partNames),
  'all, µs CPU',
  'rounds',
]

function describeResult(result: Result): string[] {
  return [
    result.scenario,
    `${result.connections}`,
    result.donePerSecond === null ? '' : whole(result.donePerSecond),
    whole(result.acceptedPerSecond),
    formatRange(result, ({ acceptedPerSecond }) => acceptedPerSecond),
    `${result.p50Ms.toFixed(1)} / ${result.p99Ms.toFixed(1)}`,
    formatRange(result, ({ p99Ms }) => p99Ms),
    ...(Object.keys(partNames) as (keyof typeof partNames)[]).map((part) => {
      const micros = result.cpuMicrosPerEvent[part]
      return micros === undefined ? '' : whole(micros)
    }),
    whole(medianCpu(result)),
    formatRange(result, sumCpu),
  ]
}

function writeCaches(results: object[]): string {
  const caches = results.filter((result): result is Cache => 'mebibytes' in result)
  const rows = caches.map(({ rules, ms, mebibytes }) => [whole(rules), whole(ms), whole(mebibytes)])
  return writeTable(['a new worker reads so many rules', 'ms', 'MiB'], rows)
}

/** The first columns to the left, all others to the right; empty without rows. */
export function writeTable(head: string[], rows: string[][], leftColumns = 1): string {
  if (rows.length === 0) return ''
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const rule = head.map((_, column) => (column < leftColumns ? '---' : '---:'))
  return [head, rule, ...rows].map(line).join('\n')
}
