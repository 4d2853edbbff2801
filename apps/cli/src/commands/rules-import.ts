import type { CheckedRule } from '@automation/check'
import {
  applyImport,
  arrangeRule,
  countDeletions,
  type ImportPlan,
  listMissingCredentials,
  pickTexts,
  planImport,
  presentPlan,
  refuseExcessDeletions,
} from '@automation/rules'
import type { Command } from 'commander'
import { checkInWorkspace } from '../check-in-workspace.js'
import { prepareConfirmation } from '../confirm.js'
import { exitCodes } from '../exit-codes.js'
import { formatFindings } from '../format-findings.js'
import { formatPlan, hasChanges } from '../format-plan.js'
import { addImportOptions, type ImportOptions, listMissing, readFileToImport } from '../import-options.js'
import { readDuration, readId } from '../option-readers.js'
import { formatPlanBacktests, runPlanBacktests } from '../plan-backtests.js'
import { addCommand, exampleId, isForPrograms, print } from '../program.js'
import { checkInTables } from '../read-file-in-workspace.js'
import { createRuleFileError } from '../rule-file-error.js'
import { refuseFailingTests } from '../test-results.js'
import { useWorkspace } from '../use-database.js'

export function addRulesImport(rules: Command): void {
  const command = addCommand(rules, {
    name: 'import',
    description:
      'Change rules and email templates to match a file: all of it, or nothing. They are matched by name, and several rules of one name by their definitions. The command shows the changes and asks for confirmation.',
    example: `rules.yaml --workspace ${exampleId} --plan`,
    reads: ['DATABASE_URL', 'RETENTION_DAYS'],
    exits: ['changes', 'declined'],
  })
  addImportOptions(command)
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option(
      '--backtest <duration>',
      'show what the changed rules would have done for recent events, such as those of the last 7d; a worker computes it',
      readDuration,
    )
    .action(importFile)
}

interface OperatorOptions extends ImportOptions {
  workspace: string
  backtest?: number
}

async function importFile(path: string, options: OperatorOptions, command: Command): Promise<void> {
  const { workspace, plan: isPlan = false, prune = false, maxDeletions } = options
  const isQuiet = isForPrograms(command)
  const confirm = isPlan ? undefined : prepareConfirmation(command, path === '-')
  const source = await readFileToImport(path, options)

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
    const missingSentence = listMissing(missing, options)
    const shownPlan = presentPlan(plan)
    const value = {
      ...shownPlan,
      missingCredentials: missing,
      check,
      ...(backtests && { backtests }),
    }
    const shown = [
      formatPlan(shownPlan, {
        rules: plan.rules.toCreate.map(arrangeRule),
        emailTemplates: plan.emailTemplates.toCreate.map(pickTexts),
      }),
      ...missingSentence,
      ...(check.findings.length > 0 ? [formatFindings(check)] : []),
      ...(backtests ? [formatPlanBacktests(backtests)] : []),
    ].join('\n\n')
    if (confirm === undefined || !hasChanges(shownPlan)) {
      if (isPlan && hasChanges(shownPlan)) process.exitCode = exitCodes.changes
      return print(command, { applied: false, ...value }, `${shown}${warnOf(plan, maxDeletions)}`)
    }
    if (!isQuiet) console.log(shown)
    refuseExcessDeletions(plan, maxDeletions)
    await confirm('\nApply these changes?')
    await applyImport(administrator, file, { prune }, plan)
    print(command, { applied: true, ...value }, '\nApplied.')
  })
}

function warnOf(plan: ImportPlan, maxDeletions: number | undefined): string {
  const { deletions, isMany } = countDeletions(plan)
  return isMany && maxDeletions === undefined
    ? `\nThese are many deletions: to apply them, add --max-deletions ${deletions}.`
    : ''
}
