import type { Command } from 'commander'
import { addGroup, exampleId } from '../program.js'
import { addRulesExport } from './rules-export.js'
import { addRulesImport } from './rules-import.js'

export function addRules(program: Command): void {
  const rules = addGroup(program, {
    name: 'rules',
    description: 'Export the rules and email templates of a workspace to a file, or import them.',
    example: `export --workspace ${exampleId} --output rules.yaml`,
  })
  addRulesExport(rules)
  addRulesImport(rules)
}
