import {
  type Administrator,
  createWorkspace,
  findWorkspace,
  listDeletedWorkspaces,
  listWorkspaces,
  MemberToPut,
  maxSupportHours,
  Plan,
  putMember,
  RetentionDays,
  Role,
  removeMember,
  UserId,
  updateWorkspace,
  type Workspace,
  WorkspaceToCreate,
} from '@automation/access'
import type { Database } from '@automation/database'
import { type Ranking, rankWorkspaces, workspaceFigures } from '@automation/history'
import { deleteWorkspace, keepWorkspace, resumeWorkspace, suspendWorkspace } from '@automation/rules'
import { Type } from 'typebox'
import { confirmName } from '../confirm.js'
import { formatTable } from '../format.js'
import { formatRanking } from '../format-ranking.js'
import { listChoices, readAs, readDuration, readId } from '../option-readers.js'
import { exampleId } from '../program.js'
import { useDatabase, useWorkspace } from '../use-database.js'
import type { DatabaseOperation, OptionRow } from './database-operation.js'

export const workspaceOption: OptionRow = ['--workspace <id>', 'id of the workspace', readId]
const { properties: supportFields } = MemberToPut
const Figure = Type.Enum([...workspaceFigures])
const Top = Type.Integer({ minimum: 1, maximum: 1_000 })

/** Of what suspends a workspace or undoes that. */
const ofLifecycle = {
  example: `${exampleId} --confirm Acme`,
  exits: ['declined'] as DatabaseOperation['exits'],
  argument: ['workspace', 'id of the workspace', readId] as OptionRow,
  takes: [['--confirm <name>', 'name of the workspace (default: asks for it)', String]] as OptionRow[],
}

function confirmed(
  workspaceId: string,
  typed: string | undefined,
  change: (administrator: Administrator, name: string) => Promise<Workspace>,
): Promise<Workspace> {
  return useWorkspace('change', workspaceId, async (administrator) => {
    const { name } = await findWorkspace(administrator.database.system, workspaceId)
    await confirmName(name, typed)
    return change(administrator, name)
  })
}

export const workspaceOperations: readonly DatabaseOperation[] = [
  {
    words: 'workspaces create',
    description: 'Create a workspace with its first admin.',
    example: '--name Acme --plan enterprise --admin ada',
    needs: [
      ['--name <name>', 'name of the workspace', readAs(WorkspaceToCreate.properties.name)],
      ['--admin <user>', 'user id of the first admin: the sub of the user’s tokens', readAs(UserId)],
    ],
    takes: [
      ['--plan <plan>', `${listChoices(Plan)} (default: standard)`, readAs(Plan)],
      [
        '--retention-days <days>',
        'days that events and executions are kept, 1 to 3650 (default: the setting of the service)',
        readAs(RetentionDays),
      ],
    ],
    run: ({ admin: adminUserId, ...fields }) =>
      useDatabase('change', (administrator) => createWorkspace(administrator, { ...fields, adminUserId })),
  },
  {
    words: 'workspaces list',
    description:
      'List all workspaces, oldest first, and which are closed since they move; with --by those with the most of something. Failures are failed executions of events since then, refusals are rejected webhooks by the hour, and bytes are an estimate of all that is kept.',
    example: '--by failures --since 1h',
    takes: [
      ['--by <figure>', listChoices(Figure), readAs(Figure)],
      ['--since <duration>', 'with --by: so far back, such as 30m or 1d (default: 1h)', readDuration],
      ['--top <count>', 'with --by: how many workspaces, 1 to 1000 (default: 20)', readAs(Top)],
    ],
    shows: (answer: ListedWorkspace[] | Ranking) =>
      Array.isArray(answer)
        ? formatTable(answer, [
            ...(['id', 'name', 'plan', 'createdAt'] as const),
            ...(answer.some(({ moving }) => moving) ? (['moving', 'closedAt'] as const) : []),
          ])
        : formatRanking(answer),
    run: ({ by, since = 3_600_000, top = 20 }) =>
      useDatabase<ListedWorkspace[] | Ranking>('read', ({ database }) =>
        by === undefined
          ? listAll(database)
          : rankWorkspaces(database, { by, since: Date.now() - since, top }),
      ),
  },
  {
    words: 'workspaces update',
    description: 'Change the plan of a workspace.',
    example: `${exampleId} --plan enterprise`,
    argument: ['workspace', 'id of the workspace', readId],
    needs: [['--plan <plan>', listChoices(Plan), readAs(Plan)]],
    run: ({ workspace, plan }) =>
      useWorkspace('change', workspace, (administrator) => updateWorkspace(administrator, { plan })),
  },
  {
    words: 'workspaces suspend',
    description:
      'Suspend a workspace, after its name is typed again. Only the operator resumes it. Nothing of it runs meanwhile, and nothing is lost.',
    ...ofLifecycle,
    says: 'The workspace {name} is suspended.',
    run: ({ workspace, confirm }) => confirmed(workspace, confirm, suspendWorkspace),
  },
  {
    words: 'workspaces resume',
    description: 'Resume a workspace that was suspended, by whomever. What waited goes on.',
    ...ofLifecycle,
    says: 'The workspace {name} is not suspended.',
    run: ({ workspace, confirm }) => confirmed(workspace, confirm, resumeWorkspace),
  },
  {
    words: 'workspaces delete',
    description:
      'Ask for the deletion of a workspace, after its name is typed again. It is suspended at once, and deleted 7 days later.',
    ...ofLifecycle,
    says: 'The workspace {name} is suspended, and is deleted at {deletesAt}.',
    run: ({ workspace, confirm }) =>
      confirmed(workspace, confirm, (administrator, name) => deleteWorkspace(administrator, name)),
  },
  {
    words: 'workspaces keep',
    description: 'Undo the deletion of a workspace that has not begun. It is again what it was before.',
    ...ofLifecycle,
    says: 'The workspace {name} is not deleted.',
    run: ({ workspace, confirm }) => confirmed(workspace, confirm, keepWorkspace),
  },
  {
    words: 'workspaces deleted',
    description: 'List the log of deletions, oldest first. It outlives the workspaces.',
    example: '--json',
    columns: ['id', 'name', 'askedBy', 'deletedAt', 'rowsRemoved', 'finishedAt'],
    run: () => useDatabase('read', ({ database }) => listDeletedWorkspaces(database)),
  },
  {
    words: 'members set',
    description: 'Add a member, or change the role of a member.',
    example: `--workspace ${exampleId} --user grace --role editor`,
    needs: [
      workspaceOption,
      ['--user <user>', 'user id: the sub of the user’s tokens', readAs(UserId)],
      [
        '--role <role>',
        `${listChoices(Role)}; each role includes the rights of the roles before it`,
        readAs(Role),
      ],
    ],
    says: '{userId} now has the role {role}.',
    run: async ({ workspace, user: userId, role }) => {
      const set = await useWorkspace('change', workspace, (administrator) =>
        putMember(administrator, { userId, role }),
      )
      return set.member
    },
  },
  {
    words: 'support take',
    description:
      'Get into a workspace as a viewer who reads no credentials, until an end. The workspace sees who, why and until when, and can end it. Taking it again moves the end.',
    example: `${exampleId} --user dana --hours 4 --reason "Ticket 4711"`,
    argument: ['workspace', 'id of the workspace', readId],
    needs: [
      ['--user <user>', 'user id: the sub of the user’s tokens', readAs(UserId)],
      ['--hours <hours>', `1 to ${maxSupportHours}, from now on`, readAs(supportFields.endsInHours)],
      ['--reason <text>', 'why, in the words that the workspace reads', readAs(supportFields.reason)],
    ],
    says: '{userId} reads this workspace until {endsAt}.',
    run: async ({ workspace, user: userId, hours: endsInHours, reason }) => {
      const taken = await useWorkspace('change', workspace, (administrator) =>
        putMember(administrator, { userId, role: 'viewer', endsInHours, reason }),
      )
      return taken.member
    },
  },
  {
    words: 'support end',
    description: 'End support access before its time. The audit log of the workspace says so.',
    example: `${exampleId} --user dana`,
    argument: ['workspace', 'id of the workspace', readId],
    needs: [['--user <user>', 'user id: the sub of the user’s tokens', readAs(UserId)]],
    says: 'The support access of {user} has ended.',
    run: ({ workspace, user }) =>
      useWorkspace('change', workspace, (administrator) =>
        removeMember(administrator, user, { isSupport: true }),
      ),
  },
]

interface ListedWorkspace extends Workspace {
  /** Of one that is closed: `to` or `from` another installation, with the id of the move. */
  moving?: string | null
  closedAt?: string
}

async function listAll(database: Database): Promise<ListedWorkspace[]> {
  const closed = await database.system.workspace.findMany({
    where: { closedAt: { not: null } },
    select: { id: true, moving: true, closedAt: true },
  })
  const moves = new Map(
    closed.map(({ id, moving, closedAt }) => [id, { moving, closedAt: closedAt?.toISOString() ?? '' }]),
  )
  return (await listWorkspaces(database)).map((workspace) => ({ ...workspace, ...moves.get(workspace.id) }))
}
