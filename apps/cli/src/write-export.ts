import type { RuleFile } from '@automation/rules'
import type { Command } from 'commander'
import { isForPrograms, print } from './program.js'
import { readKeptTests } from './read-kept-tests.js'
import { formatOption, guessFormat, type RuleFormat, writeRuleText } from './rule-text.js'
import { writeWholeFile } from './write-whole-file.js'

export const exportDescription =
  'Write all rules and email templates, sorted by name. The same rules always give the same file. A YAML file ends with the line `...`, without which import --prune refuses it. Its first line names the schema with which editors complete it (rules.schema.json beside the file; the API serves it as /docs/rules.schema.json). The tests of the file that it replaces are kept.'

export interface ExportOptions {
  output?: string
  format?: RuleFormat
}

export function addExportOptions(command: Command): Command {
  return command
    .option('--output <file>', 'file to write, completely or not at all (default: standard output)')
    .option(...formatOption)
}

export async function writeExport(
  file: RuleFile,
  { output, format }: ExportOptions,
  command: Command,
): Promise<void> {
  const defaultFormat = isForPrograms(command) ? 'json' : 'yaml'
  const tests = output === undefined ? {} : await readKeptTests(output)
  const content = writeRuleText(
    { ...file, ...tests },
    format ?? (output === undefined ? defaultFormat : guessFormat(output)),
  )
  if (output === undefined) {
    // The content already ends with a line break.
    console.log(content.slice(0, -1))
    return
  }
  await writeWholeFile(output, content)
  const counts = { rules: file.rules.length, emailTemplates: file.emailTemplates?.length ?? 0 }
  print(
    command,
    { file: output, ...counts },
    `Wrote ${count(counts.rules, 'rule')} and ${count(counts.emailTemplates, 'email template')} to ${output}.`,
  )
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
