import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { applyImport, checkRuleFile, exportRules, planImport } from '@automation/rules'
import type { Command } from 'commander'
import { Type } from 'typebox'
import { CommandFault } from '../command-fault.js'
import { formatPlan, hasChanges, presentPlan } from '../format-plan.js'
import { addCommand, exampleId, print } from '../program.js'
import {
  guessFormat,
  type RuleFormat,
  type RuleText,
  readRuleText,
  ruleFormats,
  writeRuleText,
} from '../rule-text.js'
import { tellRuleFaults } from '../tell-rule-faults.js'
import { useWorkspace } from '../use-database.js'
import { readAs, readId } from '../values.js'

const workspace = ['--workspace <id>', 'whose rules', readId] as const
const format = [
  '--format <format>',
  `${ruleFormats.join(' or ')} (default: as the file is called, else yaml)`,
  readAs(Type.Enum([...ruleFormats])),
] as const

/** What `--plan` ends with where something is to be done: like `diff` and others, so that a script can tell. */
const changesExitCode = 2

export function addRules(program: Command): void {
  const rules = addCommand(program, {
    name: 'rules',
    description: 'Keep the rules and email templates of a workspace in a file.',
    example: `export --workspace ${exampleId} --output rules.yaml`,
  })
  addCommand(rules, {
    name: 'export',
    description: 'Write all rules and email templates, in the order of their names.',
    example: `--workspace ${exampleId} --output rules.yaml`,
  })
    .requiredOption(...workspace)
    .option('--output <file>', 'where to (default: standard output)')
    .option(...format)
    .action(exportFile)
  addCommand(rules, {
    name: 'import',
    description:
      'Make rules and email templates what a file says: all of it, or nothing. What is there is known by its name. It shows first what would be done, and asks.',
    example: `rules.yaml --workspace ${exampleId} --plan`,
  })
    .argument('<file>', 'what rules export writes; - is standard input')
    .requiredOption(...workspace)
    .option(
      '--plan',
      `only show what would be done: exit code 0 for nothing, ${changesExitCode} for something, 1 for a fault`,
    )
    .option('--prune', 'delete what is not in the file')
    .option('--yes', 'do it without asking')
    .option(...format)
    .action(importFile)
}

async function exportFile(
  { workspace, output, format }: { workspace: string; output?: string; format?: RuleFormat },
  command: Command,
): Promise<void> {
  const file = await useWorkspace(workspace, ({ database }) => exportRules(database.forWorkspace(workspace)))
  const usual = command.optsWithGlobals().json ? 'json' : 'yaml'
  const content = writeRuleText(file, format ?? (output === undefined ? usual : guessFormat(output)))
  if (output === undefined) {
    // It ends with a line break of its own.
    console.log(content.slice(0, -1))
    return
  }
  await writeFile(output, content).catch((error: Error) => {
    throw new CommandFault(`${output} cannot be written: ${error.message}.`, { cause: error })
  })
  const counts = { rules: file.rules.length, emailTemplates: file.emailTemplates?.length ?? 0 }
  print(
    command,
    { file: output, ...counts },
    `${output} has ${counts.rules} rules and ${counts.emailTemplates} email templates.`,
  )
}

interface ImportWishes {
  workspace: string
  plan?: true
  prune?: true
  yes?: true
  format?: RuleFormat
}

async function importFile(path: string, wishes: ImportWishes, command: Command): Promise<void> {
  const { workspace, plan: isPlan = false, prune = false, yes = false } = wishes
  const isQuiet = command.optsWithGlobals().json === true
  if (!isPlan && !yes && (isQuiet || path === '-' || !process.stdin.isTTY))
    throw new CommandFault('Say --plan, or --yes where nobody can be asked.', { exitCode: 2 })
  const source = await readSource(path, wishes.format)
  const checked = checkRuleFile(source.json)
  if ('faults' in checked) throw tellRuleFaults(path, source, checked.faults)

  await useWorkspace(workspace, async (administrator) => {
    const options = { prune }
    const tables = administrator.database.forWorkspace(workspace)
    const planned = await planImport(tables, checked.file, options)
    if ('faults' in planned) throw tellRuleFaults(path, source, planned.faults)
    const { plan } = planned
    const value = presentPlan(plan)
    if (isPlan || !hasChanges(plan)) {
      if (isPlan && hasChanges(plan)) process.exitCode = changesExitCode
      return print(command, { applied: false, ...value }, formatPlan(plan))
    }
    if (!isQuiet) console.log(formatPlan(plan))
    if (!yes && !(await ask('\nDo it? [y/N] '))) return console.log('Nothing was applied.')
    await applyImport(administrator, checked.file, options, plan)
    print(command, { applied: true, ...value }, '\nApplied.')
  })
}

async function readSource(path: string, format = guessFormat(path)): Promise<RuleText> {
  const reading = path === '-' ? text(process.stdin) : readFile(path, 'utf8')
  const content = await reading.catch((error: Error) => {
    throw new CommandFault(`${path} cannot be read: ${error.message}.`, { cause: error })
  })
  return readRuleText(content, path, format)
}

async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D close it, and then nobody answers: newer versions of Node say so by an AbortError.
  const closing = once(terminal, 'close').then(() => '')
  const answer = terminal.question(question).catch(() => '')
  try {
    return /^y(es)?$/i.test((await Promise.race([answer, closing])).trim())
  } finally {
    terminal.close()
  }
}
