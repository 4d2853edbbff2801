import { exportRules } from '@automation/rules'
import type { Command } from 'commander'
import { readId } from '../option-readers.js'
import { addCommand, exampleId } from '../program.js'
import { useWorkspace } from '../use-database.js'
import { addExportOptions, type ExportOptions, exportDescription, writeExport } from '../write-export.js'

export function addRulesExport(rules: Command): void {
  const command = addCommand(rules, {
    name: 'export',
    description: exportDescription,
    example: `--workspace ${exampleId} --output rules.yaml`,
    reads: ['DATABASE_URL'],
  })
  addExportOptions(command.requiredOption('--workspace <id>', 'id of the workspace', readId)).action(
    exportFile,
  )
}

async function exportFile(
  { workspace, ...options }: ExportOptions & { workspace: string },
  command: Command,
): Promise<void> {
  const file = await useWorkspace('read', workspace, ({ database }) =>
    exportRules(database.forWorkspace(workspace)),
  )
  await writeExport(file, options, command)
}
