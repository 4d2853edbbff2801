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
import { CommandFault } from '../command-fault.js'
import { formatFields, formatTable } from '../format.js'
import { addCommand, exampleId, print } from '../program.js'
import { useDatabase, useWorkspace } from '../use-database.js'
import { listChoices, readAs, readId } from '../values.js'

export function addWorkspaces(program: Command): void {
  const workspaces = addCommand(program, {
    name: 'workspaces',
    description: 'Create, list and update workspaces.',
    example: 'list',
  })
  addCommand(workspaces, {
    name: 'create',
    description: 'Make a workspace with its first admin.',
    example: '--name Acme --plan enterprise --admin ada',
  })
    .requiredOption('--name <name>', 'what people call it', readAs(WorkspaceToCreate.properties.name))
    .option('--plan <plan>', `${listChoices(Plan)} (default: standard)`, readAs(Plan))
    .requiredOption('--admin <user>', 'its first admin: the sub of that user’s tokens', readAs(UserId))
    .option(
      '--retention-days <days>',
      'for how many events and executions are kept: 1 to 3650 (default: as the service is set)',
      readAs(RetentionDays),
    )
    .action(create)
  addCommand(workspaces, {
    name: 'list',
    description: 'Show all workspaces, the oldest first.',
    example: '--json',
  }).action(list)
  addCommand(workspaces, {
    name: 'update',
    description:
      'Change the name or the plan of a workspace, when its failing rules are switched off, or how long its history is kept.',
    example: `${exampleId} --plan enterprise --auto-pause-after 20 --retention-days 90`,
  })
    .argument('<workspace>', 'its id', readId)
    .option('--name <name>', 'what people call it', readAs(WorkspaceToUpdate.properties.name))
    .option('--plan <plan>', listChoices(Plan), readAs(Plan))
    .option(
      '--auto-pause-after <failures>',
      'so many in a row switch a rule off: 3 to 1000, or never',
      readAutoPause,
    )
    .option(
      '--retention-days <days>',
      'for how many events and executions are kept: 1 to 3650, or default, as the service is set',
      readRetention,
    )
    .action(update)
}

async function create(
  { admin, ...fields }: { name: string; plan?: Workspace['plan']; retentionDays?: number; admin: string },
  command: Command,
): Promise<void> {
  const workspace = await useDatabase((administrator) =>
    createWorkspace(administrator, { ...fields, adminUserId: admin }),
  )
  print(command, workspace, formatFields(workspace))
}

async function list(_options: object, command: Command): Promise<void> {
  const workspaces = await useDatabase(({ database }) => listWorkspaces(database))
  print(command, workspaces, formatTable(workspaces, ['id', 'name', 'plan', 'createdAt']))
}

async function update(
  workspaceId: string,
  {
    autoPauseAfter,
    retentionDays,
    ...others
  }: { name?: string; plan?: Workspace['plan']; autoPauseAfter?: AutoPause; retentionDays?: Retention },
  command: Command,
): Promise<void> {
  const changes: Type.Static<typeof WorkspaceToUpdate> = others
  if (autoPauseAfter !== undefined)
    changes.autoPauseAfter = autoPauseAfter === 'never' ? null : autoPauseAfter
  if (retentionDays !== undefined) changes.retentionDays = retentionDays === 'default' ? null : retentionDays
  if (Object.keys(changes).length === 0)
    throw new CommandFault('Say what is to change: --name, --plan, --auto-pause-after or --retention-days.', {
      exitCode: 2,
    })
  const workspace = await useWorkspace(workspaceId, (administrator) =>
    updateWorkspace(administrator, changes),
  )
  print(command, workspace, formatFields(workspace))
}

// Commander takes a null for an option without a value, so it is kept in words until then.
type AutoPause = number | 'never'
type Retention = number | 'default'

function readAutoPause(text: string): AutoPause {
  return text === 'never' ? text : readAs(AutoPauseAfter)(text)
}

function readRetention(text: string): Retention {
  return text === 'default' ? text : readAs(RetentionDays)(text)
}
