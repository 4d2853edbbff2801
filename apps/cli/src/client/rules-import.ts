import type { CheckedRule } from '@automation/check'
import { ApiError, type Client } from '@automation/client'
import { checkRuleFile } from '@automation/rules/rule-file'
import type { Command } from 'commander'
import { CommandError } from '../command-error.js'
import { prepareConfirmation } from '../confirm.js'
import { exitCodes } from '../exit-codes.js'
import { formatPlan, hasChanges, type ShownPlan } from '../format-plan.js'
import { addImportOptions, type ImportOptions, listMissing, readFileToImport } from '../import-options.js'
import { addCommand, isForPrograms, print } from '../program.js'
import { createRuleFileError } from '../rule-file-error.js'
import { refuseFailingTests } from '../test-results.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesImport(rules: Command): void {
  const command = addCommand(rules, {
    name: 'import',
    description:
      'Change rules and email templates to match a file: all of it, or nothing. They are matched by name, and several rules of one name by their definitions. The command runs the tests of the file, shows the changes and asks for confirmation. What it applies is what it has shown: it fails if somebody has changed that in between.',
    example: 'rules.yaml --plan',
    reads: apiVariables,
    exits: ['changes', 'declined'],
  })
  addImportOptions(command).action(importFile)
}

async function importFile(path: string, options: ImportOptions, command: Command): Promise<void> {
  const { plan: isPlan = false, prune = false, maxDeletions } = options
  const confirm = isPlan ? undefined : prepareConfirmation(command, path === '-')
  const source = await readFileToImport(path, options)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
  const { tests = [], ...file } = checked.file
  if (!options.skipTests) refuseFailingTests(file.rules as unknown as CheckedRule[], tests)
  const body = { file, prune, ...(maxDeletions !== undefined && { maxDeletions }) } as ImportBody

  await useApi(isPlan ? 'read' : 'change', async (client) => {
    let ifTag: string | undefined
    const onHeaders = (headers: Headers) => {
      ifTag = headers.get('etag') ?? undefined
    }
    const planned = await client.rules.import({ ...body, dryRun: true }, { onHeaders }).catch(explain)
    const plan = planned as typeof planned & ShownPlan
    const shown = [
      formatPlan(plan, {
        rules: plan.rules.create.map((name) => findOnly(file.rules, name)),
        emailTemplates: plan.emailTemplates.create.map((name) => findOnly(file.emailTemplates ?? [], name)),
      }),
      ...listMissing(plan.missingCredentials, options),
    ].join('\n\n')
    if (confirm === undefined || !hasChanges(plan)) {
      if (isPlan && hasChanges(plan)) process.exitCode = exitCodes.changes
      return print(command, planned, shown)
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
