import type { Command } from 'commander'
import { addEventsSend } from './client/events-send.js'
import { addEventsWait } from './client/events-wait.js'
import { addEventsWhy } from './client/events-why.js'
import { addExecutionsCancel } from './client/executions-cancel.js'
import { addOperation } from './client/operation.js'
import { operations } from './client/operations/index.js'
import { addRulesBacktest } from './client/rules-backtest.js'
import { addRulesDraft } from './client/rules-draft.js'
import { addRulesExport } from './client/rules-export.js'
import { addRulesGuard } from './client/rules-guard.js'
import { addRulesImport } from './client/rules-import.js'
import { addRulesPromote } from './client/rules-promote.js'
import { addRulesCheck } from './commands/rules-check.js'
import { addRulesTest } from './commands/rules-test.js'
import { addCompletion } from './completion.js'
import { addMcp } from './mcp/add-mcp.js'
import { addCommand, addGroup, createProgram, print } from './program.js'
import { readDocument } from './read-document.js'

type ClientDocument = Parameters<typeof addOperation>[1] & { info: { version: string } }

interface Group {
  description: string
  example: string
  /** What is more than one operation. */
  commands?: ((group: Command) => void)[]
}

const groups: Record<string, Group> = {
  rules: {
    description: 'Read, change, check and test the rules of the workspace, or those of a file.',
    example: 'list',
    commands: [
      addRulesDraft,
      addRulesPromote,
      addRulesGuard,
      addRulesExport,
      addRulesImport,
      addRulesCheck,
      addRulesTest,
      addRulesBacktest,
    ],
  },
  backtests: { description: 'Compute what rules would have done for past events.', example: 'list' },
  templates: { description: 'Manage the email templates of the workspace.', example: 'list' },
  events: {
    description: 'Post events, and see their results.',
    example: `send LEAD_CREATED '{"name":"Ada","score":95}'`,
    commands: [addEventsSend, addEventsWait, addEventsWhy],
  },
  'event-types': { description: 'See which types events have, and add types of your own.', example: 'list' },
  executions: {
    description: 'See the executions of rules, retry those that failed, and cancel those that wait.',
    example: 'list --status failed',
    commands: [addExecutionsCancel],
  },
  tasks: { description: 'See the tasks that rules created.', example: 'list' },
  decisions: {
    description: 'See what executions wait for a person to decide, and decide.',
    example: 'list --status open',
  },
  receipts: { description: 'See which webhooks were accepted or refused, and why.', example: 'list' },
  keys: { description: 'Manage API keys, with which programs call the API.', example: 'list' },
  secrets: { description: 'Manage the signing secrets of incoming and outgoing webhooks.', example: 'list' },
  credentials: {
    description: 'Manage the credentials that calls of rules send as {{credentials.NAME}}.',
    example: 'list',
  },
  subscriptions: { description: 'Manage the URLs that receive the service events.', example: 'list' },
  members: { description: 'Manage the members of the workspace and their roles.', example: 'list' },
  invitations: {
    description: 'Invite members by a link, and accept an invitation.',
    example: 'create --role editor',
  },
  embed: {
    description: 'Manage the embed sessions, with which users of your product work in a frame of it.',
    example: 'list',
  },
  workspaces: { description: 'Manage the workspaces of the user.', example: 'list' },
  erasures: {
    description: 'Erase a value of a person from events, and what was made of them.',
    example: 'list',
  },
  audit: { description: 'See who changed what, and whether all is accounted for.', example: 'list' },
}

/** The program behind `npm run client`, and that of the package that `npm run artefacts` makes. */
export async function createClientProgram(name = 'npm run client --'): Promise<Command> {
  const isPackage = name === 'automation'
  const program = createProgram({
    name,
    description: `Use the API as a user, and check and test files of rules.
RULES_URL, RULES_TOKEN and RULES_WORKSPACE name the API and the user${isPackage ? '' : '. Without RULES_URL and RULES_TOKEN, the demo that npm start runs is used'}. Files of rules need neither.`,
    example: `events send LEAD_CREATED '{"name":"Ada","score":95}'`,
  })
  const document = await readDocument<ClientDocument>('openapi.json')
  for (const [name, { commands = [], ...description }] of Object.entries(groups)) {
    const group = addGroup(program, { name, ...description })
    for (const row of operations.filter(({ words }) => words.startsWith(`${name} `)))
      addOperation(group, document, row)
    for (const add of commands) add(group)
  }
  for (const row of operations.filter(({ words }) => !words.includes(' ')))
    addOperation(program, document, row)
  const { version } = document.info
  addCommand(program, { name: 'version', description: 'Show the version.', example: '', reads: [] }).action(
    (_, command: Command) => print(command, { version }, version),
  )
  addMcp(program)
  addCompletion(program)
  return program
}
