import { readClock } from '@automation/database'
import { BacktestPace, readHistoryFrom } from '@automation/rules'
import { type Command, Option } from 'commander'
import { usageError } from '../command-error.js'
import { readRetentionDays } from '../config.js'
import { drawBacktest } from '../draw-backtest.js'
import { findFileRule, findStoredRule } from '../find-tested-rule.js'
import { formatBacktest } from '../format-backtest.js'
import { listChoices, readAs, readDuration, readId, readTimestamp } from '../option-readers.js'
import { addCommand, exampleId, print } from '../program.js'
import { readBacktestRange } from '../read-backtest-range.js'
import { runBacktest } from '../run-backtest.js'
import { useWorkspace } from '../use-database.js'
import { writeWholeFile } from '../write-whole-file.js'

export function addRulesBacktest(rules: Command): void {
  addCommand(rules, {
    name: 'backtest',
    description:
      'Compute what a rule would have done for past events. Nothing is executed. With a file, the rule of the file is compared with the rule of the same name in the workspace; without a file, the stored rule is tested. A worker computes it, and Ctrl-C cancels it.',
    example: `rules.yaml --workspace ${exampleId} --rule Welcome --last 7d`,
    reads: ['DATABASE_URL', 'RETENTION_DAYS'],
  })
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .requiredOption('--workspace <id>', 'id of the workspace whose events are evaluated', readId)
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
    .option(
      '--pace <pace>',
      `${listChoices(BacktestPace)}: about a fifth of a core, or a whole one, in a thread of a worker (default: gentle)`,
      readAs(BacktestPace),
    )
    .option('--svg <file>', 'also draw the matches over time')
    .action(backtest)
}

interface BacktestOptions {
  workspace: string
  rule?: string
  last?: number
  from?: number
  to?: number
  pace?: BacktestPace
  svg?: string
}

async function backtest(path: string | undefined, options: BacktestOptions, command: Command): Promise<void> {
  const { workspace, rule, pace = 'gentle', svg } = options
  if (path === undefined && rule === undefined) throw usageError('Name a file, or a rule with --rule.')
  await useWorkspace('change', workspace, async (administrator) => {
    const tables = administrator.database.forWorkspace(workspace)
    const now = await readClock(administrator.database)
    const historyFrom = await readHistoryFrom(tables, workspace, readRetentionDays(), now)
    const range = readBacktestRange(options, historyFrom, now)
    const { name, ...tested } =
      path === undefined ? await findStoredRule(tables, rule ?? '') : await findFileRule(tables, path, rule)
    const toRun = { subject: { ...tested, ...range }, historyFrom, pace }
    const finished = await runBacktest(administrator, toRun, name)
    if (svg !== undefined) await writeWholeFile(svg, drawBacktest(name, finished.report))
    print(command, finished, formatBacktest(name, finished.report))
  })
}
