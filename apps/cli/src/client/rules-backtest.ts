import { setTimeout as pause } from 'node:timers/promises'
import type { Backtest, BacktestToCreate, Client, Rule } from '@automation/client'
import { type Command, Option } from 'commander'
import { CommandError, usageError } from '../command-error.js'
import { drawBacktest } from '../draw-backtest.js'
import { formatBacktest, type StoredReport } from '../format-backtest.js'
import { isId, readDuration, readTimestamp } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { readFileRule } from '../read-file-rule.js'
import { writeWholeFile } from '../write-whole-file.js'
import { apiVariables, useApi } from './use-api.js'

const weekMs = 604_800_000
/** Each look costs a token of the rate limit. */
const lookEveryMs = 1_000

export function addRulesBacktest(rules: Command): void {
  addCommand(rules, {
    name: 'backtest',
    description:
      'Compute what a rule would have done for past events, and wait for it. Nothing is executed. With a file, the rule of the file is compared with the rule of the same name in the workspace; without a file, the stored rule is tested. A worker computes it, and Ctrl-C cancels it.',
    example: 'rules.yaml --rule Welcome --last 7d',
    reads: apiVariables,
  })
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .option(
      '--rule <rule>',
      'name of the rule, or id of the stored rule (default: the only rule of the file)',
    )
    .addOption(
      new Option('--last <duration>', 'length of the range, such as 24h (default: 7d)')
        .argParser(readDuration)
        .conflicts('from'),
    )
    .option('--from <time>', 'start of the range: a date, or a time with a zone', readTimestamp)
    .option('--to <time>', 'end of the range, not included (default: now)', readTimestamp)
    .option('--pace <pace>', 'gentle: about a fifth of a core; full: a whole one, in a thread of a worker')
    .option('--svg <file>', 'also draw the matches over time')
    .action(backtest)
}

interface Options {
  rule?: string
  last?: number
  from?: number
  to?: number
  pace?: BacktestToCreate['pace']
  svg?: string
}

async function backtest(path: string | undefined, options: Options, command: Command): Promise<void> {
  const { rule, pace, svg } = options
  if (path === undefined && rule === undefined) throw usageError('Name a file, or a rule with --rule.')
  await useApi('change', async (client) => {
    const stored = rule === undefined ? undefined : await findStored(client, rule)
    const { name, definition, found } =
      path === undefined ? takeStored(stored, rule) : await takeFromFile(client, path, stored, rule)
    const body = {
      ...(definition && { definition }),
      ...(found && { ruleId: found.id }),
      ...readRange(options),
      ...(pace && { pace }),
    } as BacktestToCreate
    const done = await runBacktest(client, body)
    const report = done.report as StoredReport
    print(command, done, formatBacktest(name, report))
    if (svg !== undefined) await writeWholeFile(svg, drawBacktest(name, report))
  })
}

interface Tested {
  name: string
  definition?: object
  found?: Rule | undefined
}

function takeStored(found: Rule | undefined, rule: string | undefined): Tested {
  if (found === undefined) throw new CommandError(`The workspace has no rule ${JSON.stringify(rule)}.`)
  return { name: found.name, found }
}

async function takeFromFile(
  client: Client,
  path: string,
  stored: Rule | undefined,
  rule: string | undefined,
): Promise<Tested> {
  const { name, description: _, ...definition } = await readFileRule(path, stored?.name ?? rule)
  return { name: String(name), definition, found: stored ?? (await findStored(client, String(name))) }
}

/** By id or name. @throws CommandError if several rules have the name */
async function findStored(client: Client, rule: string): Promise<Rule | undefined> {
  if (isId(rule)) return client.rules.get(rule.toLowerCase())
  const found = await client.rules.list({ q: rule }).all()
  const named = found.filter(({ name }) => name === rule)
  if (named.length > 1)
    throw new CommandError(`The workspace has several rules ${JSON.stringify(rule)}: choose one by its id.`)
  return named[0]
}

function readRange({ last = weekMs, from, to = Date.now() }: Options) {
  const write = (at: number) => new Date(at).toISOString()
  return { from: write(from ?? to - last), to: write(to) }
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** Waits until a worker has computed it. @throws CommandError if it fails or is cancelled */
async function runBacktest(client: Client, body: BacktestToCreate): Promise<Backtest> {
  const stopping = new AbortController()
  const { signal } = stopping
  const stop = () => stopping.abort()
  for (const one of signals) process.once(one, stop)
  try {
    let backtest = await client.rules.backtests.create(body)
    const { id } = backtest
    while (isUnfinished(backtest)) {
      await pause(lookEveryMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) await client.rules.backtests.cancel(id)
      backtest = await client.rules.backtests.get(id)
    }
    const { status, error, report } = backtest
    if (status === 'cancelled') throw new CommandError(`The backtest ${id} was cancelled.`)
    if (status === 'failed' || report === null)
      throw new CommandError(`The backtest ${id} failed: ${error ?? 'it has no report'}.`)
    return backtest
  } finally {
    for (const one of signals) process.off(one, stop)
  }
}

function isUnfinished({ status }: Backtest): boolean {
  return status === 'waiting' || status === 'running'
}
