import type { Command } from 'commander'
import { addRulesCheck } from './commands/rules-check.js'
import { addRulesTest } from './commands/rules-test.js'
import { addClientCommands } from './create-client-program.js'
import { createProgram } from './program.js'

/** The program of the package that `npm run artefacts` makes: what needs neither the repository nor the database. */
export function createAutomation(): Command {
  const program = createProgram({
    name: 'automation',
    description: `Check and test files of rules, and use the API: read rules, promote drafts, post events, retry executions.
RULES_URL, RULES_TOKEN and RULES_WORKSPACE name the API and the user. Files of rules need neither.`,
    example: 'rules check rules.yaml',
  })
  addClientCommands(program, { rules: [addRulesCheck, addRulesTest] })
  return program
}
