import { type CheckResult, type Severity, severities } from '@automation/check'
import type { Fault } from '@automation/engine'
import type { RuleFile } from '@automation/rules'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { checkFileRules } from '../check-file-rules.js'
import { CommandError } from '../command-error.js'
import { exitCodes } from '../exit-codes.js'
import { formatFindings, reaches } from '../format-findings.js'
import { readAs, readId } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { readRuleFile } from '../read-rule-file.js'
import { createRuleFileError } from '../rule-file-error.js'

export function addRulesCheck(rules: Command): void {
  addCommand(rules, {
    name: 'check',
    description:
      'Find rules that never match, redundant conditions, duplicate actions and loops. With --workspace the rules of the file are checked together with the other rules of the workspace, and compared with its newest events. Without a file the rules of the workspace are checked.',
    example: 'rules.yaml --fail-on warning',
    reads: ['DATABASE_URL'],
    exits: { failed: 'failed, or there is a finding of the severity of --fail-on' },
  })
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .option('--workspace <id>', 'id of the workspace', readId)
    .option(
      '--fail-on <severity>',
      `fail at this severity or above: ${severities.join(', ')} or never (default: error)`,
      readAs(Type.Enum([...severities, 'never'])),
    )
    .action(checkFile)
}

interface CheckOptions {
  workspace?: string
  failOn?: Severity | 'never'
}

async function checkFile(
  path: string | undefined,
  { workspace, failOn = 'error' }: CheckOptions,
  command: Command,
): Promise<void> {
  if (path === undefined && workspace === undefined)
    throw new CommandError('Name a file, or a workspace with --workspace.', { exitCode: exitCodes.usage })
  const read = path === undefined ? undefined : await readRules(path)
  const result =
    workspace === undefined ? checkFileRules(read?.file.rules ?? []) : await checkBeside(workspace, read)
  if (failOn !== 'never' && result.findings.some(({ severity }) => reaches(severity, failOn)))
    process.exitCode = exitCodes.failed
  print(command, result, formatFindings(result))
}

interface ReadRules {
  file: RuleFile
  explain(faults: Fault[]): CommandError
}

async function checkBeside(workspace: string, read: ReadRules | undefined): Promise<CheckResult> {
  // A file by itself needs no database.
  const [{ useWorkspace }, { checkInWorkspace }, { planImport }] = await Promise.all([
    import('../use-database.js'),
    import('../check-in-workspace.js'),
    import('@automation/rules'),
  ])
  return useWorkspace('read', workspace, async ({ database }) => {
    const file: RuleFile = read?.file ?? { version: 1, rules: [] }
    const planned = await planImport(database.forWorkspace(workspace), file, { prune: false })
    // To import nothing has none.
    if ('faults' in planned) throw read?.explain(planned.faults)
    return checkInWorkspace(database, workspace, file.rules, planned.plan.rules)
  })
}

async function readRules(path: string): Promise<ReadRules> {
  const source = await readRuleFile(path)
  const explain = (faults: Fault[]) => createRuleFileError(path, source, faults)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw explain(checked.faults)
  return { file: checked.file, explain }
}
