import type { CheckedRule } from '@automation/check'
import {
  applyImport,
  countDeletions,
  type ImportPlan,
  listMissingCredentials,
  planImport,
  presentPlan,
  refuseExcessDeletions,
} from '@automation/rules'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { checkInWorkspace } from '../check-in-workspace.js'
import { CommandError } from '../command-error.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { exitCodes } from '../exit-codes.js'
import { formatFindings } from '../format-findings.js'
import { formatPlan, hasChanges } from '../format-plan.js'
import { readAs, readDuration, readId } from '../option-readers.js'
import { formatPlanBacktests, runPlanBacktests } from '../plan-backtests.js'
import { addCommand, exampleId, isForPrograms, print } from '../program.js'
import { checkInTables } from '../read-file-in-workspace.js'
import { readRuleFile } from '../read-rule-file.js'
import { createRuleFileError } from '../rule-file-error.js'
import { endMark, formatOption, type RuleFormat, type RuleText } from '../rule-text.js'
import { useWorkspace } from '../use-database.js'
import { refuseFailingTests } from './rules-test.js'

const Count = Type.Integer({ minimum: 0 })

export function addRulesImport(rules: Command): void {
  addCommand(rules, {
    name: 'import',
    description:
      'Change rules and email templates to match a file: all of it, or nothing. They are matched by name, and several rules of one name by their definitions. The command shows the changes and asks for confirmation.',
    example: `rules.yaml --workspace ${exampleId} --plan`,
    reads: ['DATABASE_URL', 'RETENTION_DAYS'],
    exits: ['changes', 'declined'],
  })
    .argument('<file>', 'file in the format of rules export; - reads standard input')
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option('--plan', 'only show the changes')
    .option(
      '--prune',
      `permanently delete rules and email templates that are not in the file; a YAML file must end with the line ${endMark}`,
    )
    .option(
      '--max-deletions <number>',
      'number of deletions that --prune may make (default: a third of the rules, and a third of the email templates)',
      readAs(Count),
    )
    .option(
      '--backtest <duration>',
      'show what the changed rules would have done for recent events, such as those of the last 7d; a worker computes it',
      readDuration,
    )
    .option('--require-credentials', 'change nothing if the rules name credentials that the workspace lacks')
    .option('--skip-tests', 'do not run the tests of the file first')
    .option(...yesOption)
    .option(...formatOption)
    .action(importFile)
}

interface ImportOptions {
  workspace: string
  plan?: true
  prune?: true
  maxDeletions?: number
  backtest?: number
  requireCredentials?: true
  skipTests?: true
  yes?: true
  format?: RuleFormat
}

async function importFile(path: string, options: ImportOptions, command: Command): Promise<void> {
  const { workspace, plan: isPlan = false, prune = false, maxDeletions } = options
  const isQuiet = isForPrograms(command)
  const confirm = isPlan ? undefined : prepareConfirmation(command, path === '-')
  const source = await readWholeFile(path, options)

  await useWorkspace('change', workspace, async (administrator) => {
    const tables = administrator.database.forWorkspace(workspace)
    const file = await checkInTables(tables, path, source)
    const { rules, tests = [] } = file
    if (!options.skipTests) refuseFailingTests(rules as unknown as CheckedRule[], tests)
    const planned = await planImport(tables, file, { prune })
    if ('faults' in planned) throw createRuleFileError(path, source, planned.faults)
    const { plan } = planned
    const check = await checkInWorkspace(administrator.database, workspace, rules, plan.rules)
    const backtests = options.backtest && (await runPlanBacktests(administrator, plan, options.backtest))
    const missing = await listMissingCredentials(tables, rules)
    if (options.requireCredentials && missing.length > 0)
      throw new CommandError(`${describeMissing(missing)} Nothing was applied.`)
    const value = {
      ...presentPlan(plan),
      missingCredentials: missing,
      check,
      ...(backtests && { backtests }),
    }
    const shown = [
      formatPlan(plan),
      ...(missing.length > 0 ? [describeMissing(missing)] : []),
      ...(check.findings.length > 0 ? [formatFindings(check)] : []),
      ...(backtests ? [formatPlanBacktests(backtests)] : []),
    ].join('\n\n')
    if (confirm === undefined || !hasChanges(plan)) {
      if (isPlan && hasChanges(plan)) process.exitCode = exitCodes.changes
      return print(command, { applied: false, ...value }, `${shown}${warnOf(plan, maxDeletions)}`)
    }
    if (!isQuiet) console.log(shown)
    refuseExcessDeletions(plan, maxDeletions)
    await confirm('\nApply these changes?')
    await applyImport(administrator, file, { prune }, plan)
    print(command, { applied: true, ...value }, '\nApplied.')
  })
}

/** @throws CommandError if the file cannot be read, or if it may lack what --prune would delete */
async function readWholeFile(path: string, { prune, format }: ImportOptions): Promise<RuleText> {
  const source = await readRuleFile(path, format)
  if (prune && !source.isWhole)
    throw new CommandError(
      `${path} does not end with the line ${endMark}, so it may have been cut short, and --prune deletes what a file lacks. Export it again, or add the line if the file is complete. Nothing was applied.`,
    )
  return source
}

function describeMissing(names: string[]): string {
  return `The workspace lacks these credentials, so calls that send them fail: ${names.join(', ')}.`
}

function warnOf(plan: ImportPlan, maxDeletions: number | undefined): string {
  const { deletions, isMany } = countDeletions(plan)
  return isMany && maxDeletions === undefined
    ? `\nThese are many deletions: to apply them, add --max-deletions ${deletions}.`
    : ''
}
