import type { RuleFile } from '@automation/rules'
import type { Command } from 'commander'
import { countComments } from '../change-yaml.js'
import { readAnother } from '../option-readers.js'
import { addCommand, isForPrograms, print } from '../program.js'
import { type KeptFile, readKeptFile } from '../read-kept-file.js'
import { changeRuleText, formatOption, guessFormat, type RuleFormat, writeRuleText } from '../rule-text.js'
import { writeWholeFile } from '../write-whole-file.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesExport(rules: Command): void {
  addCommand(rules, {
    name: 'export',
    description:
      'Write all rules and email templates, sorted by name. The same rules always give the same file. A YAML file ends with the line `...`, without which import --prune refuses it. Its first line names the schema with which editors complete it (rules.schema.json beside the file; the API serves it as /docs/rules.schema.json). Of a file that is there its tests are kept, and of a YAML file its comments: it is changed where it differs.',
    example: '--output rules.yaml',
    reads: apiVariables,
    ownOutput: true,
  })
    .option(
      '--label <label>',
      'only rules with this label, and no email templates; repeat it for rules with all of them',
      readAnother,
    )
    .option('--output <file>', 'file to write, completely or not at all (default: standard output)')
    .option(...formatOption)
    .action(exportRules)
}

interface ExportOptions {
  label?: string[]
  output?: string
  format?: RuleFormat
}

async function exportRules({ label, output, format }: ExportOptions, command: Command): Promise<void> {
  const exported = await useApi('read', (client) => client.rules.export(label && { label }))
  const file = exported as unknown as RuleFile
  const defaultFormat = isForPrograms(command) ? 'json' : 'yaml'
  const kept = output === undefined ? {} : await readKeptFile(output)
  const content = writeOver(
    kept,
    file,
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

function writeOver({ text, tests }: KeptFile, file: RuleFile, format: RuleFormat): string {
  const whole = tests === undefined ? file : { ...file, tests }
  if (format !== 'yaml' || text === undefined) return writeRuleText(whole, format)
  const content = changeRuleText(text, whole) ?? writeRuleText(whole, format)
  const lost = countComments(text) - countComments(content)
  if (lost > 0) console.error(`${count(lost, 'comment')} of the file went with what it stood at.`)
  return content
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
