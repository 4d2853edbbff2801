import type { Command } from 'commander'
import { Type } from 'typebox'
import { CommandError } from './command-error.js'
import { yesOption } from './confirm.js'
import { readAs } from './option-readers.js'
import { readRuleFile } from './read-rule-file.js'
import { endMark, formatOption, type RuleFormat, type RuleText } from './rule-text.js'

/** Of every command that imports a file. */
export interface ImportOptions {
  plan?: true
  prune?: true
  maxDeletions?: number
  skipTests?: true
  requireCredentials?: true
  yes?: true
  format?: RuleFormat
}

export function addImportOptions(command: Command): Command {
  return command
    .argument('<file>', 'file in the format of rules export; - reads standard input')
    .option('--plan', 'only show the changes')
    .option(
      '--prune',
      `permanently delete rules and email templates that are not in the file; a YAML file must end with the line ${endMark}`,
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
}

/** @throws CommandError if the file cannot be read, or if it may lack what --prune would delete */
export async function readFileToImport(path: string, { prune, format }: ImportOptions): Promise<RuleText> {
  const source = await readRuleFile(path, format)
  if (prune && !source.isWhole)
    throw new CommandError(
      `${path} does not end with the line ${endMark}, so it may have been cut short, and --prune deletes what a file lacks. Export it again, or add the line if the file is complete. Nothing was applied.`,
    )
  return source
}

/** @returns a sentence about credentials that the workspace lacks, if it does @throws CommandError if all of them are required */
export function listMissing(names: string[], { requireCredentials }: ImportOptions): string[] {
  if (names.length === 0) return []
  const sentence = `The workspace lacks these credentials, so calls that send them fail: ${names.join(', ')}.`
  if (requireCredentials) throw new CommandError(`${sentence} Nothing was applied.`)
  return [sentence]
}
