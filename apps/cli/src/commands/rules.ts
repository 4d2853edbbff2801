import type { Command } from 'commander'
import { addGroup, exampleId } from '../program.js'
import { addRulesCheck } from './rules-check.js'
import { addRulesExport } from './rules-export.js'
import { addRulesImport } from './rules-import.js'
import { addRulesTest } from './rules-test.js'

export function addRules(program: Command): void {
  const rules = addGroup(program, {
    name: 'rules',
    description:
      'Export the rules and email templates of a workspace to a file, check and test the file, or import it.',
    example: `export --workspace ${exampleId} --output rules.yaml`,
  })
  addRulesExport(rules)
  addRulesImport(rules)
  addRulesCheck(rules)
  addRulesTest(rules)
}
