import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const benchmarks = [
  'events',
  'sustained',
  'ingest',
  'fairness',
  'neighbours',
  'engine',
  'growth',
  'scale',
  'retention',
  'brake',
  'compare',
  'check',
  'backtest',
  'why',
  'start',
] as const
export type BenchmarkName = (typeof benchmarks)[number]
const commands = [...benchmarks, 'all', 'render'] as const

/** Duration of each measurement, without its warm-up, and number of rounds. An even number of rounds is as often forwards as backwards. */
export const defaults: Record<BenchmarkName, Pick<Options, 'seconds' | 'rounds'>> = {
  events: { seconds: 5, rounds: 6 },
  sustained: { seconds: 300, rounds: 1 },
  ingest: { seconds: 4, rounds: 6 },
  fairness: { seconds: 4, rounds: 6 },
  neighbours: { seconds: 10, rounds: 1 },
  engine: { seconds: 0.5, rounds: 6 },
  growth: { seconds: 4, rounds: 6 },
  scale: { seconds: 4, rounds: 6 },
  retention: { seconds: 4, rounds: 5 },
  brake: { seconds: 4, rounds: 5 },
  compare: { seconds: 5, rounds: 6 },
  check: { seconds: 0, rounds: 5 },
  backtest: { seconds: 10, rounds: 6 },
  why: { seconds: 3, rounds: 6 },
  start: { seconds: 4, rounds: 6 },
}

/** The options of one benchmark. */
export interface Options {
  /** Duration of each measurement, without its warm-up. */
  seconds: number
  rounds: number
  /** Measures only labels that contain this text. */
  only: string
  /** Directory for CPU profiles of API, worker and yardsticks. */
  profile: string | undefined
  /** The executions that wait for the rule of "brake", or that "retention" removes. */
  executions: number
  /** Includes histories of ten million events. */
  isLarge: boolean
}

/** The arguments of the command. */
export interface Command extends Omit<Options, 'seconds' | 'rounds'> {
  benchmark: (typeof commands)[number]
  /** undefined: those of each benchmark. */
  seconds: number | undefined
  rounds: number | undefined
  /** File for the results as JSON. The results of other benchmarks in it are kept. */
  json: string | undefined
  /** Files for the results as a picture, and as tables between marks in texts. */
  svg: string | undefined
  markdown: string[]
}

export const usage = `npm run bench -- [${commands.join('|')}]
  [--seconds N] [--rounds N] [--only TEXT] [--json FILE] [--svg FILE] [--markdown FILE]... [--profile DIR] [--large]
  [--executions 1000000]

  events     from a caller's request until the rules have run; this is what runs when none is named
  sustained  events at a fixed rate for five minutes, of 50 workspaces, with worker, checkpoints and autovacuum; waits at 25, 50 and 75 %
             of the capacity
  ingest     from a provider's webhook until it is accepted, beside two plain services that do the same
  fairness   what a flood of one workspace does to the waits of 50 others, with fair shares and without
  neighbours what one tenant can do to others within the default limits, also with a heap of 256 MB
  engine     the engine by itself, beside json-rules-engine and handlebars, and with many rules; needs no servers
  growth     with up to 100,000 rules in a workspace, and a history of a million executions (--large: ten)
  scale      with 1, 2 and 4 workers and 1 and 2 APIs
  retention  what the removal of a day of --executions costs, and how long others wait meanwhile
  brake      how long it takes to switch a rule off that --executions wait for, and to cancel them
  compare    beside n8n in queue mode, where it is on the PATH or installed by npm in the directory N8N_DIR
  check      what the check of rule sets finds of planted faults, and the CPU that it needs; needs no servers
  backtest   how fast backtests are over 200,000 events, and what a gentle one does to live events
  why        how long callers wait to learn why 10, 100 and 1,000 rules matched an event or not, and what it costs the API
  start      how long API and worker take until they are ready, and their memory with nothing to do
  all        engine, events, ingest, growth, scale and sustained
  render     measures nothing: makes picture and tables of the file --json
  --seconds, --rounds
             of each measurement; each benchmark has its own defaults
  --only     measures what has TEXT in its label, as in "async" or "10 matching rules @128"
  --json     the results with all rounds; results of other benchmarks in that file are kept
  --svg, --markdown
             the results as a picture, and as tables between the marks in a file
  --profile  writes a CPU profile of each API, worker and yardstick, for a browser's developer tools; CPU figures are dearer then`

/** The options of a benchmark: its defaults, unless the command has others. */
export function optionsOf(name: BenchmarkName, { seconds, rounds, ...others }: Command): Options {
  const own = defaults[name]
  return { ...others, seconds: seconds ?? own.seconds, rounds: rounds ?? own.rounds }
}

/** The command that repeats a benchmark, whatever its defaults become. */
export function formatCommand(
  name: BenchmarkName,
  { seconds, rounds, only, isLarge, executions }: Options,
): string {
  return [
    `npm run bench -- ${name} --seconds ${seconds} --rounds ${rounds}`,
    ...(only === '' ? [] : [`--only "${only}"`]),
    ...(isLarge ? ['--large'] : []),
    ...(name === 'brake' || name === 'retention' ? [`--executions ${executions}`] : []),
  ].join(' ')
}

/** @throws Error that names the invalid argument */
export function readCommand(args: string[]): Command {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      profile: { type: 'string' },
      svg: { type: 'string' },
      markdown: { type: 'string', multiple: true, default: [] },
      executions: { type: 'string', default: '1000000' },
      large: { type: 'boolean', default: false },
    },
  })
  const [name = 'events', ...others] = positionals
  const benchmark = commands.find((known) => known === name)
  const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  const executions = Number(values.executions)
  if (benchmark === undefined || others.length > 0)
    throw new Error(`${positionals.join(' ')} is none of ${commands.join(', ')}`)
  if (seconds !== undefined && !(seconds > 0))
    throw new Error(`--seconds ${values.seconds} is not a number above 0`)
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds ${values.rounds} has to be a whole number above 0`)
  if (!(Number.isInteger(executions) && executions > 0))
    throw new Error(`--executions ${values.executions} has to be a whole number above 0`)
  if (benchmark === 'render' && values.json === undefined) throw new Error('render needs --json FILE')
  return {
    benchmark,
    json: values.json,
    seconds,
    rounds,
    only: values.only,
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    svg: values.svg,
    markdown: values.markdown,
    executions,
    isLarge: values.large,
  }
}
