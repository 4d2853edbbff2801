import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { applyImport, checkRuleFile, exportRules, planImport } from '@automation/rules'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { CommandError } from '../command-error.js'
import { formatPlan, hasChanges, presentPlan } from '../format-plan.js'
import { readAs, readId } from '../option-readers.js'
import { addCommand, changesExitCode, exampleId, print } from '../program.js'
import { createRuleFileError } from '../rule-file-error.js'
import {
  guessFormat,
  type RuleFormat,
  type RuleText,
  readRuleText,
  ruleFormats,
  writeRuleText,
} from '../rule-text.js'
import { useWorkspace } from '../use-database.js'

const workspace = ['--workspace <id>', 'id of the workspace', readId] as const
const format = [
  '--format <format>',
  `${ruleFormats.join(' or ')} (default: by the file name, otherwise yaml)`,
  readAs(Type.Enum([...ruleFormats])),
] as const

export function addRules(program: Command): void {
  const rules = addCommand(program, {
    name: 'rules',
    description: 'Export the rules and email templates of a workspace to a file, or import them.',
    example: `export --workspace ${exampleId} --output rules.yaml`,
  })
  addCommand(rules, {
    name: 'export',
    description: 'Write all rules and email templates, sorted by name.',
    example: `--workspace ${exampleId} --output rules.yaml`,
  })
    .requiredOption(...workspace)
    .option('--output <file>', 'file to write (default: standard output)')
    .option(...format)
    .action(exportFile)
  addCommand(rules, {
    name: 'import',
    description:
      'Change rules and email templates to match a file: all of it, or nothing. They are matched by name. The command first shows the changes and asks for confirmation.',
    example: `rules.yaml --workspace ${exampleId} --plan`,
  })
    .argument('<file>', 'file in the format of rules export; - reads standard input')
    .requiredOption(...workspace)
    .option(
      '--plan',
      `only show the changes; the exit code is 0 without changes, ${changesExitCode} with changes, 1 after an error`,
    )
    .option('--prune', 'delete rules and email templates that are not in the file')
    .option('--yes', 'apply the changes without confirmation')
    .option(...format)
    .action(importFile)
}

async function exportFile(
  { workspace, output, format }: { workspace: string; output?: string; format?: RuleFormat },
  command: Command,
): Promise<void> {
  const file = await useWorkspace(workspace, ({ database }) => exportRules(database.forWorkspace(workspace)))
  const defaultFormat = command.optsWithGlobals().json ? 'json' : 'yaml'
  const content = writeRuleText(file, format ?? (output === undefined ? defaultFormat : guessFormat(output)))
  if (output === undefined) {
    // The content already ends with a line break.
    console.log(content.slice(0, -1))
    return
  }
  await writeFile(output, content).catch((error: Error) => {
    throw new CommandError(`${output} cannot be written: ${error.message}.`, { cause: error })
  })
  const counts = { rules: file.rules.length, emailTemplates: file.emailTemplates?.length ?? 0 }
  print(
    command,
    { file: output, ...counts },
    `Wrote ${counts.rules} rules and ${counts.emailTemplates} email templates to ${output}.`,
  )
}

interface ImportOptions {
  workspace: string
  plan?: true
  prune?: true
  yes?: true
  format?: RuleFormat
}

async function importFile(path: string, given: ImportOptions, command: Command): Promise<void> {
  const { workspace, plan: isPlan = false, prune = false, yes = false } = given
  const isQuiet = command.optsWithGlobals().json === true
  if (!isPlan && !yes && (isQuiet || path === '-' || !process.stdin.isTTY))
    throw new CommandError('Use --plan or --yes: there is no terminal to ask for confirmation.', {
      exitCode: 2,
    })
  const source = await readSource(path, given.format)
  await useWorkspace(workspace, async (administrator) => {
    const options = { prune }
    const tables = administrator.database.forWorkspace(workspace)
    const ownTypes = await tables.ownEventType.findMany({ select: { name: true } })
    const checked = checkRuleFile(source.json, new Set(ownTypes.map(({ name }) => name)))
    if ('faults' in checked) throw createRuleFileError(path, source, checked.faults)
    const planned = await planImport(tables, checked.file, options)
    if ('faults' in planned) throw createRuleFileError(path, source, planned.faults)
    const { plan } = planned
    const value = presentPlan(plan)
    if (isPlan || !hasChanges(plan)) {
      if (isPlan && hasChanges(plan)) process.exitCode = changesExitCode
      return print(command, { applied: false, ...value }, formatPlan(plan))
    }
    if (!isQuiet) console.log(formatPlan(plan))
    if (!yes && !(await ask('\nApply these changes? [y/N] '))) return console.log('Nothing was applied.')
    await applyImport(administrator, checked.file, options, plan)
    print(command, { applied: true, ...value }, '\nApplied.')
  })
}

async function readSource(path: string, format = guessFormat(path)): Promise<RuleText> {
  const reading = path === '-' ? text(process.stdin) : readFile(path, 'utf8')
  const content = await reading.catch((error: Error) => {
    throw new CommandError(`${path} cannot be read: ${error.message}.`, { cause: error })
  })
  return readRuleText(content, path, format)
}

async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D close the terminal without an answer. Newer versions of Node report that with an AbortError.
  const closing = once(terminal, 'close').then(() => '')
  const answer = terminal.question(question).catch(() => '')
  try {
    return /^y(es)?$/i.test((await Promise.race([answer, closing])).trim())
  } finally {
    terminal.close()
  }
}
