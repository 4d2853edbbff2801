import type { Command } from 'commander'
import { addAudit } from './commands/audit.js'
import { addKeys } from './commands/keys.js'
import { addMembers } from './commands/members.js'
import { addRules } from './commands/rules.js'
import { addSecrets } from './commands/secrets.js'
import { addSubscriptions } from './commands/subscriptions.js'
import { addTokens } from './commands/tokens.js'
import { addWorkspaces } from './commands/workspaces.js'
import { createProgram } from './program.js'

/** `npm run admin`, ready to be run. */
export function createAdmin(): Command {
  const program = createProgram({
    name: 'npm run admin --',
    description: `Manages workspaces, members, rules, API keys, signing secrets and subscriptions, right in the database.
It takes DATABASE_URL from the environment, else the product that npm start runs.`,
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
    addAudit,
  ])
    add(program)
  return program
}
