import type { Command } from 'commander'
import { addDecisionsDecide } from './client/decisions-decide.js'
import { addDecisionsList } from './client/decisions-list.js'
import { addEventsGet } from './client/events-get.js'
import { addEventsList } from './client/events-list.js'
import { addEventsSend } from './client/events-send.js'
import { addEventsWait } from './client/events-wait.js'
import { addEventsWhy } from './client/events-why.js'
import { addExecutionsCancel } from './client/executions-cancel.js'
import { addExecutionsList } from './client/executions-list.js'
import { addExecutionsRetry } from './client/executions-retry.js'
import { addRulesDraft } from './client/rules-draft.js'
import { addRulesExport } from './client/rules-export.js'
import { addRulesGet } from './client/rules-get.js'
import { addRulesGroup, addRulesReorder } from './client/rules-group.js'
import { addRulesGuard } from './client/rules-guard.js'
import { addRulesImport } from './client/rules-import.js'
import { addRulesList } from './client/rules-list.js'
import { addRulesPromote } from './client/rules-promote.js'
import { addRulesSchedule } from './client/rules-schedule.js'
import { addMcp } from './mcp/add-mcp.js'
import { addGroup, createProgram, exampleId } from './program.js'

/** A new command needs one file in `client/` and one entry here. */
const groups = [
  {
    name: 'rules',
    description: 'Read the rules of the workspace, and change them by drafts or by a file.',
    example: 'list',
    commands: [
      addRulesList,
      addRulesGet,
      addRulesDraft,
      addRulesPromote,
      addRulesGuard,
      addRulesGroup,
      addRulesReorder,
      addRulesSchedule,
      addRulesExport,
      addRulesImport,
    ],
  },
  {
    name: 'events',
    description: 'Post events, and see their results.',
    example: `send LEAD_CREATED '{"name":"Ada","score":95}'`,
    commands: [addEventsSend, addEventsList, addEventsGet, addEventsWait, addEventsWhy],
  },
  {
    name: 'executions',
    description: 'See the executions of rules, retry those that failed, and cancel those that wait.',
    example: `retry ${exampleId}`,
    commands: [addExecutionsList, addExecutionsRetry, addExecutionsCancel],
  },
  {
    name: 'decisions',
    description: 'See what executions wait for a person to decide, and decide.',
    example: 'list --status open',
    commands: [addDecisionsList, addDecisionsDecide],
  },
]

/** The program behind `npm run client`. */
export function createClientProgram(): Command {
  const program = createProgram({
    name: 'npm run client --',
    description: `Use the API as a user: read rules, promote drafts, post events, retry executions.
RULES_URL, RULES_TOKEN and RULES_WORKSPACE name the API and the user. Without RULES_URL and RULES_TOKEN, the demo that npm start runs is used.`,
    example: `events send LEAD_CREATED '{"name":"Ada","score":95}'`,
  })
  addClientCommands(program)
  return program
}

/** @param more commands of groups, by the names of the groups */
export function addClientCommands(
  program: Command,
  more: Record<string, ((group: Command) => void)[]> = {},
): void {
  for (const { commands, ...description } of groups) {
    const group = addGroup(program, description)
    for (const add of [...commands, ...(more[description.name] ?? [])]) add(group)
  }
  addMcp(program)
}
