import type { Command } from 'commander'
import { addNamed } from './add-named.js'
import { createProgram } from './program.js'

/**
 * The program behind `npm run admin`.
 *
 * @param args its arguments, if only the group of commands that they name has to be loaded
 */
export async function createAdmin(args: readonly string[] = []): Promise<Command> {
  const program = createProgram({
    name: 'npm run admin --',
    description: `Manage workspaces, members, rules, API keys, signing secrets, credentials and subscriptions directly in the database.
DATABASE_URL names the database. If it is not set, the product that npm start runs is used.`,
    example: 'workspaces create --name Acme --admin ada',
  })
  await addNamed(program, args, {
    workspaces: async () => (await import('./commands/workspaces.js')).addWorkspaces,
    members: async () => (await import('./commands/members.js')).addMembers,
    rules: async () => (await import('./commands/rules.js')).addRules,
    keys: async () => (await import('./commands/keys.js')).addKeys,
    secrets: async () => (await import('./commands/secrets.js')).addSecrets,
    credentials: async () => (await import('./commands/credentials.js')).addCredentials,
    subscriptions: async () => (await import('./commands/subscriptions.js')).addSubscriptions,
    tokens: async () => (await import('./commands/tokens.js')).addTokens,
    console: async () => (await import('./commands/console.js')).addConsole,
    audit: async () => (await import('./commands/audit.js')).addAudit,
  })
  return program
}
