import type { RuleFile } from '@automation/rules'
import type { Command } from 'commander'
import { addCommand } from '../program.js'
import { addExportOptions, type ExportOptions, exportDescription, writeExport } from '../write-export.js'
import { apiVariables, useApi } from './use-api.js'

export function addRulesExport(rules: Command): void {
  const command = addCommand(rules, {
    name: 'export',
    description: exportDescription,
    example: '--output rules.yaml',
    reads: apiVariables,
  })
  addExportOptions(command).action(exportFile)
}

async function exportFile(options: ExportOptions, command: Command): Promise<void> {
  const file = await useApi('read', (client) => client.rules.export())
  await writeExport(file as unknown as RuleFile, options, command)
}
