import { type Command, Option } from 'commander'
import { usageError } from './command-error.js'
import { backupOperations } from './commands/backup-operations.js'
import { addDatabaseOperation } from './commands/database-operation.js'
import { databaseOperations } from './commands/database-operations.js'
import { moveOperations } from './commands/move-operations.js'
import { restoreOperations } from './commands/restore-operations.js'
import { tokenOperations } from './commands/token-operations.js'
import { addGroup, createProgram, exampleId } from './program.js'

const groups = [
  {
    name: 'workspaces',
    description: 'Create, list, suspend, move and delete workspaces, and change their plan.',
    example: 'list',
  },
  {
    name: 'members',
    description: 'Give a workspace members.',
    example: `set --workspace ${exampleId} --user grace --role editor`,
  },
  {
    name: 'support',
    description: 'Look into a workspace for a while, as its members can see.',
    example: `take ${exampleId} --user dana --hours 4 --reason "Ticket 4711"`,
  },
  {
    name: 'keys',
    description: 'Create API keys, with which programs call the API.',
    example: `create --workspace ${exampleId} --name CI --scopes rules:write`,
  },
  {
    name: 'operator-keys',
    description: 'Manage the keys with which programs of the operator create workspaces by the API.',
    example: 'create --name sign-up',
  },
  {
    name: 'secrets',
    description: 'Create the signing secrets of webhooks, and encrypt all secrets again.',
    example: `create --workspace ${exampleId} --provider billing`,
  },
  {
    name: 'removals',
    description: 'Keep a list of what was taken away for a restore, and take it away again after one.',
    example: 'write removals.json',
  },
  {
    name: 'restored',
    description: 'See what a restore has brought back, and start the workers.',
    example: 'report --removals removals.json',
  },
  { name: 'tokens', description: 'Create JSON Web Tokens for development.', example: 'mint --user ada' },
  { name: 'console', description: 'Sign users in to the console.', example: 'link --user ada' },
]

/** Commands that are operations of the API now, with a token. */
export const moved: Readonly<Record<string, string[]>> = {
  members: ['list', 'remove'],
  rules: ['export', 'import', 'check', 'test', 'backtest'],
  keys: ['list', 'revoke'],
  secrets: ['set', 'list', 'retire', 'revoke'],
  credentials: ['set', 'list', 'delete'],
  subscriptions: ['create', 'list', 'test', 'delete'],
  audit: ['list'],
}
const movedOptions = ['name', 'auto-pause-after', 'retention-days']

/** The program behind `npm run admin`. */
export function createAdmin(): Command {
  const program = createProgram({
    name: 'npm run admin --',
    description: `Do directly in the database what needs no token: create workspaces with their first members, keys and secrets, suspend and delete them, create tokens, back up and restore.
All else is in npm run client. DATABASE_URL names the database. If it is not set, the product that npm start runs is used.`,
    example: 'workspaces create --name Acme --admin ada',
  })
  for (const description of groups) {
    const group = addGroup(program, description)
    for (const row of [...databaseOperations, ...moveOperations, ...restoreOperations, ...tokenOperations])
      if (row.words.startsWith(`${description.name} `)) addDatabaseOperation(group, row)
  }
  for (const row of backupOperations) addDatabaseOperation(program, row)
  addMoved(program)
  return program
}

/** Who types one of them reads which command replaces it. */
function addMoved(program: Command): void {
  for (const [group, names] of Object.entries(moved)) {
    const found = program.commands.find((one) => one.name() === group)
    const parent = found ?? refuse(program.command(group, { hidden: true }), group)
    for (const name of names) refuse(parent.command(name, { hidden: true }), `${group} ${name}`)
  }
  const update = program.commands
    .find((one) => one.name() === 'workspaces')
    ?.commands.find((one) => one.name() === 'update')
  for (const name of movedOptions)
    update?.addOption(
      new Option(`--${name} <value>`).hideHelp().argParser(() => refuseMoved('workspaces update')),
    )
}

/** Whatever follows the words. */
function refuse(command: Command, words: string): Command {
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(() => refuseMoved(words))
}

function refuseMoved(words: string): never {
  throw usageError(
    `Use npm run client -- ${words}: it calls the API, with RULES_TOKEN and RULES_WORKSPACE (see --help).`,
  )
}
