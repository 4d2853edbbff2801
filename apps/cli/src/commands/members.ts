import { listMembers, putMember, Role, removeMember, UserId } from '@automation/access'
import type { Command } from 'commander'
import { formatTable } from '../format.js'
import { addCommand, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'
import { listChoices, readAs, readId } from '../values.js'

const workspace = ['--workspace <id>', 'whose members', readId] as const
const user = ['--user <user>', 'the sub of the user’s tokens', readAs(UserId)] as const

export function addMembers(program: Command): void {
  const members = addCommand(program, {
    name: 'members',
    description: 'Say who may do what in a workspace.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(members, {
    name: 'list',
    description: 'Show the members, the oldest first.',
    example: `--workspace ${exampleId}`,
  })
    .requiredOption(...workspace)
    .action(list)
  addCommand(members, {
    name: 'set',
    description: 'Add a member, or change its role.',
    example: `--workspace ${exampleId} --user grace --role editor`,
  })
    .requiredOption(...workspace)
    .requiredOption(...user)
    .requiredOption(
      '--role <role>',
      `${listChoices(Role)}: each may do what those before it may`,
      readAs(Role),
    )
    .action(set)
  addCommand(members, {
    name: 'remove',
    description: 'Remove a member.',
    example: `--workspace ${exampleId} --user grace`,
  })
    .requiredOption(...workspace)
    .requiredOption(...user)
    .action(remove)
}

async function list(options: { workspace: string }, command: Command): Promise<void> {
  const members = await useWorkspace(options.workspace, ({ database, workspaceId }) =>
    listMembers(database.forWorkspace(workspaceId)),
  )
  print(command, members, formatTable(members, ['userId', 'role', 'createdAt']))
}

async function set(
  options: { workspace: string; user: string; role: Role },
  command: Command,
): Promise<void> {
  const { member, isNew } = await useWorkspace(options.workspace, (administrator) =>
    putMember(administrator, { userId: options.user, role: options.role }),
  )
  print(command, member, `${member.userId} is ${isNew ? 'a new member' : 'now'}: ${member.role}.`)
}

async function remove(options: { workspace: string; user: string }, command: Command): Promise<void> {
  await useWorkspace(options.workspace, (administrator) => removeMember(administrator, options.user))
  print(command, { userId: options.user, removed: true }, `${options.user} is no member any more.`)
}
