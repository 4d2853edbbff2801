import { type CheckResult, type Severity, severities } from '@automation/check'
import type { RuleToCreate } from '@automation/client'
import type { RuleFile } from '@automation/rules'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { checkFileRules } from '../check-file-rules.js'
import { apiVariables, useApi } from '../client/use-api.js'
import { exitCodes } from '../exit-codes.js'
import { formatFindings, reaches } from '../format-findings.js'
import { readAs } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { readRuleFile } from '../read-rule-file.js'
import { createRuleFileError } from '../rule-file-error.js'

export function addRulesCheck(rules: Command): void {
  addCommand(rules, {
    name: 'check',
    description:
      'Find rules that never match, redundant conditions, duplicate actions and loops: in a file without the API, or without a file in the rules of the workspace. Those are compared with its newest events and its credentials; with --events a file is, too.',
    example: 'rules.yaml --fail-on warning',
    reads: apiVariables,
    exits: { failed: 'failed, or there is a finding of the severity of --fail-on' },
  })
    .argument('[file]', 'file in the format of rules export; - reads standard input')
    .option('--events', 'have the API check the file, beside the events of the workspace')
    .option(
      '--fail-on <severity>',
      `fail at this severity or above: ${severities.join(', ')} or never (default: error)`,
      readAs(Type.Enum([...severities, 'never'])),
    )
    .action(checkFile)
}

interface CheckOptions {
  events?: true
  failOn?: Severity | 'never'
}

async function checkFile(
  path: string | undefined,
  { events, failOn = 'error' }: CheckOptions,
  command: Command,
): Promise<void> {
  const rules = path === undefined ? undefined : await readRules(path)
  const result = rules === undefined || events ? await checkByApi(rules) : checkFileRules(rules)
  if (failOn !== 'never' && result.findings.some(({ severity }) => reaches(severity, failOn)))
    process.exitCode = exitCodes.failed
  print(command, result, formatFindings(result))
}

async function checkByApi(rules: RuleFile['rules'] | undefined): Promise<CheckResult> {
  const check = await useApi('read', (client) => client.rules.check(rules as RuleToCreate[] | undefined))
  return check as CheckResult
}

async function readRules(path: string): Promise<RuleFile['rules']> {
  const source = await readRuleFile(path)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
  return checked.file.rules
}
