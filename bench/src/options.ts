import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const benchmarks = [
  'events',
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
] as const
export type BenchmarkName = (typeof benchmarks)[number]
const commands = [...benchmarks, 'all', 'render'] as const

export interface Options {
  benchmark: (typeof commands)[number]
  /** File for the results as JSON. */
  json: string | undefined
  /** Duration of each measurement, without its warm-up. */
  seconds: number
  rounds: number
  /** Measures only labels that contain this text. */
  only: string
  /** Directory for CPU profiles of API and worker. */
  profile: string | undefined
  /** Files for the results as a picture, and as tables between two marks in a text. */
  svg: string | undefined
  markdown: string | undefined
  /** The executions that wait for the rule of "brake". */
  executions: number
  /** Includes histories of ten million events. */
  isLarge: boolean
}

export const usage = `npm run bench -- [events|ingest|fairness|neighbours|engine|growth|scale|retention|brake|compare|check|all|render] [--seconds 4] [--rounds 5]
  [--only TEXT] [--json FILE] [--svg FILE] [--markdown FILE] [--profile DIR] [--large]
  [--executions 1000000]

  events     from a caller's request until the rules have run; this is what runs when none is named
  ingest     from a provider's webhook until it is accepted, beside a plain service that does the same
  fairness   what a flood of one workspace does to the waits of 50 others, with fair shares and without
  neighbours what one tenant can do to others within the default limits, also with a heap of 256 MB
  engine     the engine by itself, beside json-rules-engine and handlebars, and with many rules; needs no servers
  growth     with up to 100,000 rules in a workspace, and a history of a million executions (--large: ten)
  scale      with 1, 2 and 4 workers and 1 and 2 APIs
  retention  what the removal of a day of a million executions costs, and how long others wait meanwhile
  brake      how long it takes to switch a rule off that --executions wait for, and to cancel them
  compare    beside n8n in queue mode, where it is on the PATH or installed by npm in the directory N8N_DIR
  check      what the check of rule sets finds of planted faults, and the CPU that it needs; needs no servers
  all        what docs/performance.md shows: all but fairness, neighbours, retention, brake, compare and check
  render     measures nothing: makes picture and tables of an earlier run's --json
  --only     measures what has TEXT in its label, as in "async" or "10 matching rules @128"
  --svg, --markdown
             the results as a picture, and as tables between the two marks in a file
  --profile  writes a CPU profile of API and worker each, for a browser's developer tools; CPU figures are dearer then`

/** @throws Error that names the invalid argument */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string', default: '' },
      profile: { type: 'string' },
      svg: { type: 'string' },
      markdown: { type: 'string' },
      executions: { type: 'string', default: '1000000' },
      large: { type: 'boolean', default: false },
    },
  })
  const [name = 'events', ...others] = positionals
  const benchmark = commands.find((known) => known === name)
  const seconds = Number(values.seconds)
  const rounds = Number(values.rounds)
  const executions = Number(values.executions)
  if (benchmark === undefined || others.length > 0)
    throw new Error(`${positionals.join(' ')} is none of ${commands.join(', ')}`)
  if (!(seconds > 0)) throw new Error(`--seconds ${values.seconds} has to be a number above 0`)
  if (!(Number.isInteger(rounds) && rounds > 0))
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
