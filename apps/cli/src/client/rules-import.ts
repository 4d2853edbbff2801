import type { CheckResult } from '@automation/check'
import { ApiError, type Client, type RuleToCreate } from '@automation/client'
import type { CheckedRule } from '@automation/engine'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { CommandError } from '../command-error.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { exitCodes } from '../exit-codes.js'
import { formatFindings } from '../format-findings.js'
import { formatPlan, hasChanges, type ShownPlan } from '../format-plan.js'
import { readAnother, readAs } from '../option-readers.js'
import { addCommand, isForPrograms, print } from '../program.js'
import { readRuleFile } from '../read-rule-file.js'
import { createRuleFileError } from '../rule-file-error.js'
import { endMark, formatOption, type RuleFormat, type RuleText } from '../rule-text.js'
import { refuseFailingTests } from '../test-results.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesImport(rules: Command): void {
  addCommand(rules, {
    name: 'import',
    description:
      'Change rules and email templates to match a file: all of it, or nothing. They are matched by name, and several rules of one name by their definitions. The command runs the tests of the file, shows the changes and what a check of the file finds, and asks for confirmation. What it applies is what it has shown: it fails if somebody has changed that in between.',
    example: 'rules.yaml --plan',
    reads: apiVariables,
    exits: ['changes', 'declined'],
  })
    .argument('<file>', 'file in the format of rules export; - reads standard input')
    .option('--plan', 'only show the changes')
    .option(
      '--prune',
      `permanently delete rules and email templates that are not in the file; a YAML file must end with the line ${endMark}`,
    )
    .option(
      '--label <label>',
      'change and delete only rules with this label, which all rules of the file must have, and delete no email templates; repeat it for rules with all of them',
      readAnother,
    )
    .option(
      '--max-deletions <number>',
      'number of deletions that --prune may make (default: a third of the rules, and a third of the email templates)',
      readAs(Type.Integer({ minimum: 0 })),
    )
    .option('--skip-tests', 'do not run the tests of the file first')
    .option('--require-credentials', 'change nothing if the rules name credentials that the workspace lacks')
    .option(...yesOption)
    .option(...formatOption)
    .action(importFile)
}

interface ImportOptions {
  plan?: true
  prune?: true
  label?: string[]
  maxDeletions?: number
  skipTests?: true
  requireCredentials?: true
  yes?: true
  format?: RuleFormat
}

async function importFile(path: string, options: ImportOptions, command: Command): Promise<void> {
  const { plan: isPlan = false, prune = false, label: labels, maxDeletions } = options
  const confirm = isPlan ? undefined : prepareConfirmation(command, path === '-')
  const source = await readFileToImport(path, options)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
  const { tests = [], ...file } = checked.file
  if (!options.skipTests) refuseFailingTests(file.rules as unknown as CheckedRule[], tests)
  const body = {
    file,
    prune,
    ...(labels && { labels }),
    ...(maxDeletions !== undefined && { maxDeletions }),
  } as ImportBody

  await useApi(isPlan ? 'read' : 'change', async (client) => {
    let ifTag: string | undefined
    const onHeaders = (headers: Headers) => {
      ifTag = headers.get('etag') ?? undefined
    }
    const planned = await client.rules.import({ ...body, dryRun: true }, { onHeaders }).catch(explain)
    const plan = planned as typeof planned & ShownPlan
    const check = await checkRules(client, body.file.rules)
    const shown = [
      formatPlan(plan, {
        rules: plan.rules.create.map((name) => findOnly(file.rules, name)),
        emailTemplates: plan.emailTemplates.create.map((name) => findOnly(file.emailTemplates ?? [], name)),
      }),
      ...listMissing(plan.missingCredentials, options),
      ...('error' in check ? [`The rules were not checked: ${check.error}.`] : listFindings(check)),
    ].join('\n\n')
    if (confirm === undefined || !hasChanges(plan)) {
      if (isPlan && hasChanges(plan)) process.exitCode = exitCodes.changes
      return print(command, { ...planned, check }, shown)
    }
    if (!isForPrograms(command)) console.log(shown)
    if (ifTag === undefined)
      throw new CommandError('The response has no ETag, so nothing was applied: a proxy may have removed it.')
    await confirm('\nApply these changes?')
    const applied = await client.rules.import({ ...body, dryRun: false }, { ifTag }).catch(explain)
    print(command, applied, '\nApplied.')
  })

  /** With the lines of the file. */
  function explain(error: unknown): never {
    if (!(error instanceof ApiError) || !error.errors?.some(isInFile)) throw error
    const faults = error.errors.map(({ field, message }) => ({ field: field.replace(inFile, ''), message }))
    throw createRuleFileError(path, source, faults)
  }
}

const isBusy = new Set([429, 503])
const isTooMuch = new Set(['evaluation_timeout', 'evaluation_limit_exceeded', 'result_too_large'])

/** A check that the API has no time for does not hold the import up. */
async function checkRules(client: Client, rules: ImportBody['file']['rules']) {
  try {
    const { findings, notKnown } = await client.rules.check(rules as RuleToCreate[])
    return { findings, notKnown } as CheckResult
  } catch (error) {
    if (!(error instanceof ApiError) || !(isBusy.has(error.status) || isTooMuch.has(error.code ?? '')))
      throw error
    return { error: error.message }
  }
}

function listFindings(check: CheckResult): string[] {
  return check.findings.length > 0 ? [formatFindings(check)] : []
}

type ImportBody = Parameters<Client['rules']['import']>[0]

const inFile = /^file\./

function isInFile({ field }: { field: string }): boolean {
  return inFile.test(field)
}

/** Names of rules may repeat, and then the plan does not say which of them it creates. */
function findOnly<Item extends { name: string }>(items: readonly Item[], name: string): Item | undefined {
  const found = items.filter((item) => item.name === name)
  return found.length === 1 ? found[0] : undefined
}

/** @throws CommandError if the file cannot be read, or if it may lack what --prune would delete */
async function readFileToImport(path: string, { prune, format }: ImportOptions): Promise<RuleText> {
  const source = await readRuleFile(path, format)
  if (prune && !source.isWhole)
    throw new CommandError(
      `${path} does not end with the line ${endMark}, so it may have been cut short, and --prune deletes what a file lacks. Export it again, or add the line if the file is complete. Nothing was applied.`,
    )
  return source
}

/** @returns a sentence about credentials that the workspace lacks, if it does @throws CommandError if all of them are required */
function listMissing(names: string[], { requireCredentials }: ImportOptions): string[] {
  if (names.length === 0) return []
  const sentence = `The workspace lacks these credentials, so calls that send them fail: ${names.join(', ')}.`
  if (requireCredentials) throw new CommandError(`${sentence} Nothing was applied.`)
  return [sentence]
}
