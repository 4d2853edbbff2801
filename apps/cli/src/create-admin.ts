import type { Command } from 'commander'
import { addAudit } from './commands/audit.js'
import { addConsole } from './commands/console.js'
import { addKeys } from './commands/keys.js'
import { addMembers } from './commands/members.js'
import { addRules } from './commands/rules.js'
import { addSecrets } from './commands/secrets.js'
import { addSubscriptions } from './commands/subscriptions.js'
import { addTokens } from './commands/tokens.js'
import { addWorkspaces } from './commands/workspaces.js'
import { createProgram } from './program.js'

/** The program behind `npm run admin`. */
export function createAdmin(): Command {
  const program = createProgram({
    name: 'npm run admin --',
    description: `Manage workspaces, members, rules, API keys, signing secrets and subscriptions directly in the database.
DATABASE_URL names the database. If it is not set, the product that npm start runs is used.`,
    example: 'workspaces create --name Acme --admin ada',
  })
  for (const add of [
    addWorkspaces,
    addMembers,
    addRules,
    addKeys,
    addSecrets,
    addSubscriptions,
    addTokens,
    addConsole,
    addAudit,
  ])
    add(program)
  return program
}
