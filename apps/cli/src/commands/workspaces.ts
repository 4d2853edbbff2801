import {
  AutoPauseAfter,
  createWorkspace,
  listWorkspaces,
  Plan,
  RetentionDays,
  UserId,
  updateWorkspace,
  type Workspace,
  WorkspaceToCreate,
  WorkspaceToUpdate,
} from '@automation/access'
import type { Command } from 'commander'
import type { Type } from 'typebox'
import { usageError } from '../command-error.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatFields, formatTable } from '../format.js'
import { listChoices, readAs, readId } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useDatabase, useWorkspace } from '../use-database.js'

export function addWorkspaces(program: Command): void {
  const workspaces = addGroup(program, {
    name: 'workspaces',
    description: 'Create, list and update workspaces.',
    example: 'list',
  })
  addCommand(workspaces, {
    name: 'create',
    description: 'Create a workspace with its first admin.',
    example: '--name Acme --plan enterprise --admin ada',
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--name <name>', 'name of the workspace', readAs(WorkspaceToCreate.properties.name))
    .option('--plan <plan>', `${listChoices(Plan)} (default: standard)`, readAs(Plan))
    .requiredOption(
      '--admin <user>',
      'user id of the first admin: the sub of the user’s tokens',
      readAs(UserId),
    )
    .option(
      '--retention-days <days>',
      'days that events and executions are kept, 1 to 3650 (default: the setting of the service)',
      readAs(RetentionDays),
    )
    .action(create)
  addCommand(workspaces, {
    name: 'list',
    description: 'List all workspaces, oldest first.',
    example: '--json',
    reads: ['DATABASE_URL'],
  }).action(list)
  addCommand(workspaces, {
    name: 'update',
    description:
      'Change the name, plan or retention of a workspace, or when its failing rules are switched off. A retention asks for confirmation: older history is removed permanently.',
    example: `${exampleId} --plan enterprise --auto-pause-after 20`,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .argument('<workspace>', 'id of the workspace', readId)
    .option('--name <name>', 'new name', readAs(WorkspaceToUpdate.properties.name))
    .option('--plan <plan>', listChoices(Plan), readAs(Plan))
    .option(
      '--auto-pause-after <failures>',
      'number of failures in a row that switch a rule off, 3 to 1000, or never',
      readAutoPause,
    )
    .option(
      '--retention-days <days>',
      'days that events and executions are kept, 1 to 3650, or default for the setting of the service',
      readRetention,
    )
    .option(...yesOption)
    .action(update)
}

async function create(
  { admin, ...fields }: { name: string; plan?: Workspace['plan']; retentionDays?: number; admin: string },
  command: Command,
): Promise<void> {
  const workspace = await useDatabase('change', (administrator) =>
    createWorkspace(administrator, { ...fields, adminUserId: admin }),
  )
  print(command, workspace, formatFields(workspace))
}

async function list(_options: object, command: Command): Promise<void> {
  const workspaces = await useDatabase('read', ({ database }) => listWorkspaces(database))
  print(command, workspaces, formatTable(workspaces, ['id', 'name', 'plan', 'createdAt']))
}

async function update(
  workspaceId: string,
  { name, plan, autoPauseAfter, retentionDays }: UpdateOptions,
  command: Command,
): Promise<void> {
  const changes: Type.Static<typeof WorkspaceToUpdate> = {}
  if (name !== undefined) changes.name = name
  if (plan !== undefined) changes.plan = plan
  if (autoPauseAfter !== undefined)
    changes.autoPauseAfter = autoPauseAfter === 'never' ? null : autoPauseAfter
  if (retentionDays !== undefined) changes.retentionDays = retentionDays === 'default' ? null : retentionDays
  if (Object.keys(changes).length === 0)
    throw usageError('Give at least one change: --name, --plan, --auto-pause-after or --retention-days.')
  const confirm = retentionDays === undefined ? undefined : prepareConfirmation(command)
  const workspace = await useWorkspace('change', workspaceId, async (administrator) => {
    await confirm?.('Change the retention? Older history will be removed permanently.')
    return updateWorkspace(administrator, changes)
  })
  print(command, workspace, formatFields(workspace))
}

interface UpdateOptions {
  name?: string
  plan?: Workspace['plan']
  autoPauseAfter?: AutoPause
  retentionDays?: Retention
}

// Commander treats null as an option without a value, so the words are converted only later.
type AutoPause = number | 'never'
type Retention = number | 'default'

function readAutoPause(text: string): AutoPause {
  return text === 'never' ? text : readAs(AutoPauseAfter)(text)
}

function readRetention(text: string): Retention {
  return text === 'default' ? text : readAs(RetentionDays)(text)
}
