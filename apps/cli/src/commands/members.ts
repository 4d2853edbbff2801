import { listMembers, putMember, Role, removeMember, UserId } from '@automation/access'
import type { Command } from 'commander'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatTable } from '../format.js'
import { listChoices, readAs, readId } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'

const workspace = ['--workspace <id>', 'id of the workspace', readId] as const
const user = ['--user <user>', 'user id: the sub of the user’s tokens', readAs(UserId)] as const

export function addMembers(program: Command): void {
  const members = addGroup(program, {
    name: 'members',
    description: 'Manage the members of a workspace and their roles.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(members, {
    name: 'list',
    description: 'List the members, oldest first.',
    example: `--workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption(...workspace)
    .action(list)
  addCommand(members, {
    name: 'set',
    description: 'Add a member, or change the role of a member.',
    example: `--workspace ${exampleId} --user grace --role editor`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption(...workspace)
    .requiredOption(...user)
    .requiredOption(
      '--role <role>',
      `${listChoices(Role)}; each role includes the rights of the roles before it`,
      readAs(Role),
    )
    .action(set)
  addCommand(members, {
    name: 'remove',
    description: 'Remove a member, after a confirmation.',
    example: `--workspace ${exampleId} --user grace`,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .requiredOption(...workspace)
    .requiredOption(...user)
    .option(...yesOption)
    .action(remove)
}

async function list(options: { workspace: string }, command: Command): Promise<void> {
  const members = await useWorkspace('read', options.workspace, ({ database, workspaceId }) =>
    listMembers(database.forWorkspace(workspaceId)),
  )
  print(command, members, formatTable(members, ['userId', 'role', 'createdAt']))
}

async function set(
  options: { workspace: string; user: string; role: Role },
  command: Command,
): Promise<void> {
  const { member, isNew } = await useWorkspace('change', options.workspace, (administrator) =>
    putMember(administrator, { userId: options.user, role: options.role }),
  )
  print(
    command,
    member,
    `${member.userId} ${isNew ? 'is now a member with the role' : 'now has the role'} ${member.role}.`,
  )
}

async function remove(options: { workspace: string; user: string }, command: Command): Promise<void> {
  const confirm = prepareConfirmation(command)
  await useWorkspace('change', options.workspace, async (administrator) => {
    await confirm(`Remove the member ${options.user}?`)
    await removeMember(administrator, options.user)
  })
  print(command, { userId: options.user, removed: true }, `${options.user} is no longer a member.`)
}
