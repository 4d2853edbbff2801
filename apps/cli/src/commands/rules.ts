import type { Command } from 'commander'
import { addNamed } from '../add-named.js'
import { addGroup, exampleId } from '../program.js'

export async function addRules(program: Command, args: readonly string[]): Promise<void> {
  const rules = addGroup(program, {
    name: 'rules',
    description:
      'Export the rules and email templates of a workspace to a file, check, test and backtest the file, or import it.',
    example: `export --workspace ${exampleId} --output rules.yaml`,
  })
  await addNamed(rules, args, {
    export: async () => (await import('./rules-export.js')).addRulesExport,
    import: async () => (await import('./rules-import.js')).addRulesImport,
    check: async () => (await import('./rules-check.js')).addRulesCheck,
    test: async () => (await import('./rules-test.js')).addRulesTest,
    backtest: async () => (await import('./rules-backtest.js')).addRulesBacktest,
  })
}
