import { exportRules } from '@automation/rules'
import type { Command } from 'commander'
import { readId } from '../option-readers.js'
import { addCommand, exampleId, isForPrograms, print } from '../program.js'
import { readKeptTests } from '../read-kept-tests.js'
import { formatOption, guessFormat, type RuleFormat, writeRuleText } from '../rule-text.js'
import { useWorkspace } from '../use-database.js'
import { writeWholeFile } from '../write-whole-file.js'

export function addRulesExport(rules: Command): void {
  addCommand(rules, {
    name: 'export',
    description:
      'Write all rules and email templates, sorted by name. The same rules always give the same file. A YAML file ends with the line `...`, without which import --prune refuses it. Its first line names the schema with which editors complete it (rules.schema.json beside the file; the API serves it as /docs/rules.schema.json). The tests of the file that it replaces are kept.',
    example: `--workspace ${exampleId} --output rules.yaml`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option('--output <file>', 'file to write, completely or not at all (default: standard output)')
    .option(...formatOption)
    .action(exportFile)
}

async function exportFile(
  { workspace, output, format }: { workspace: string; output?: string; format?: RuleFormat },
  command: Command,
): Promise<void> {
  const file = await useWorkspace('read', workspace, ({ database }) =>
    exportRules(database.forWorkspace(workspace)),
  )
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
    `Wrote ${counts.rules} rules and ${counts.emailTemplates} email templates to ${output}.`,
  )
}
