import {
  createWorkspace,
  listWorkspaces,
  Plan,
  UserId,
  updateWorkspace,
  type Workspace,
  WorkspaceToCreate,
  WorkspaceToUpdate,
} from '@automation/administration'
import type { Command } from 'commander'
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
    .action(create)
  addCommand(workspaces, {
    name: 'list',
    description: 'Show all workspaces, the oldest first.',
    example: '--json',
  }).action(list)
  addCommand(workspaces, {
    name: 'update',
    description: 'Change the name or the plan of a workspace.',
    example: `${exampleId} --plan enterprise`,
  })
    .argument('<workspace>', 'its id', readId)
    .option('--name <name>', 'what people call it', readAs(WorkspaceToUpdate.properties.name))
    .option('--plan <plan>', listChoices(Plan), readAs(Plan))
    .action(update)
}

async function create(
  { admin, ...fields }: { name: string; plan?: Workspace['plan']; admin: string },
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
  changes: { name?: string; plan?: Workspace['plan'] },
  command: Command,
): Promise<void> {
  if (Object.keys(changes).length === 0)
    throw new CommandFault('Say what is to change: --name, --plan or both.', { exitCode: 2 })
  const workspace = await useWorkspace(workspaceId, (administrator) =>
    updateWorkspace(administrator, changes),
  )
  print(command, workspace, formatFields(workspace))
}
