import {
  type Administrator,
  ApiKeyToCreate,
  createApiKey,
  createOperatorKey,
  createSealer,
  createSigningSecret,
  createWorkspace,
  findWorkspace,
  listAllErasures,
  listDeletedWorkspaces,
  listOperatorKeys,
  listWorkspaces,
  MemberToPut,
  maxSupportHours,
  OperatorKeyName,
  Plan,
  putMember,
  type Resealing,
  RetentionDays,
  Role,
  removeMember,
  repeatErasures,
  resealSecrets,
  revokeOperatorKey,
  Scope,
  SecretDirection,
  SigningSecretToCreate,
  UserId,
  updateWorkspace,
  type Workspace,
  WorkspaceToCreate,
} from '@automation/access'
import { type Ranking, rankWorkspaces, workspaceFigures } from '@automation/history'
import { deleteWorkspace, keepWorkspace, resumeWorkspace, suspendWorkspace } from '@automation/rules'
import { SchemeName } from '@automation/webhooks'
import { Type } from 'typebox'
import { readEncryptionKey } from '../config.js'
import { confirmName } from '../confirm.js'
import { exitCodes } from '../exit-codes.js'
import { formatTable } from '../format.js'
import { formatRanking } from '../format-ranking.js'
import { listChoices, readAs, readDuration, readId, readListOf } from '../option-readers.js'
import { exampleId } from '../program.js'
import { readErasures } from '../read-erasures.js'
import { readSecretFile, readSettings, schemeOptions } from '../scheme-options.js'
import { useDatabase, useWorkspace } from '../use-database.js'
import type { DatabaseOperation, OptionRow } from './database-operation.js'

const { properties: supportFields } = MemberToPut
const Figure = Type.Enum([...workspaceFigures])
const Top = Type.Integer({ minimum: 1, maximum: 1_000 })
const workspace: OptionRow = ['--workspace <id>', 'id of the workspace', readId]

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

export const databaseOperations: readonly DatabaseOperation[] = [
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
      'List all workspaces, oldest first; with --by those with the most of something. Failures are failed executions of events since then, refusals are rejected webhooks by the hour, and bytes are an estimate of all that is kept.',
    example: '--by failures --since 1h',
    takes: [
      ['--by <figure>', listChoices(Figure), readAs(Figure)],
      ['--since <duration>', 'with --by: so far back, such as 30m or 1d (default: 1h)', readDuration],
      ['--top <count>', 'with --by: how many workspaces, 1 to 1000 (default: 20)', readAs(Top)],
    ],
    shows: (answer: Workspace[] | Ranking) =>
      Array.isArray(answer)
        ? formatTable(answer, ['id', 'name', 'plan', 'createdAt'])
        : formatRanking(answer),
    run: ({ by, since = 3_600_000, top = 20 }) =>
      useDatabase<Workspace[] | Ranking>('read', ({ database }) =>
        by === undefined
          ? listWorkspaces(database)
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
      workspace,
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
  {
    words: 'keys create',
    description: 'Create an API key and show it. It cannot be shown again.',
    example: `--workspace ${exampleId} --name CI --scopes rules:write,receipts:read --expires-in 90d`,
    needs: [
      workspace,
      ['--name <name>', 'name of the key', readAs(ApiKeyToCreate.properties.name)],
      [
        '--scopes <scopes>',
        `comma-separated list of ${listChoices(Scope)}`,
        readListOf(ApiKeyToCreate.properties.scopes),
      ],
    ],
    takes: [
      ['--expires-in <duration>', 'lifetime, such as 90d (default: the key never expires)', readDuration],
    ],
    adds: 'Save the key now: it cannot be shown again, because only its SHA-256 hash is stored.',
    run: ({ workspace, expiresIn, ...fields }) =>
      useWorkspace('change', workspace, (administrator) =>
        createApiKey(administrator, {
          ...fields,
          ...(expiresIn && { expiresAt: new Date(Date.now() + expiresIn).toISOString() }),
        }),
      ),
  },
  {
    words: 'operator-keys create',
    description:
      'Create an operator’s key and show it. With it a program of yours creates workspaces by the API, and reads their names and counts. It cannot be shown again.',
    example: '--name sign-up',
    needs: [['--name <name>', 'name of the key', readAs(OperatorKeyName)]],
    adds: 'Save the key now: it cannot be shown again, because only its SHA-256 hash is stored.',
    run: ({ name }) => useDatabase('change', (operator) => createOperatorKey(operator, name)),
  },
  {
    words: 'operator-keys list',
    description: 'List the operator’s keys, newest first, and who has made and revoked them.',
    example: '--json',
    columns: ['id', 'name', 'state', 'createdAt', 'createdBy', 'lastUsedAt', 'revokedAt', 'revokedBy'],
    run: () => useDatabase('read', ({ database }) => listOperatorKeys(database)),
  },
  {
    words: 'operator-keys revoke',
    description:
      'Revoke an operator’s key: its next request is refused. Workspaces and keys that it has made stay.',
    example: exampleId,
    argument: ['key', 'id of the key', readId],
    says: 'The key {name} is revoked.',
    run: ({ key }) => useDatabase('change', (operator) => revokeOperatorKey(operator, key)),
  },
  {
    words: 'secrets create',
    description:
      'Create a signing secret and show it. It cannot be shown again. Senders with the scheme automation put its id into X-Signature-Id.',
    example: `--workspace ${exampleId} --provider billing`,
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
    needs: [
      workspace,
      [
        '--provider <provider>',
        'the provider that signs with it; for an outgoing secret, the called host or the id of a subscription',
        readAs(SigningSecretToCreate.properties.provider),
      ],
    ],
    takes: [
      [
        '--direction <direction>',
        `${listChoices(SecretDirection)}: whether the workspace receives or sends the webhooks (default: incoming)`,
        readAs(SecretDirection),
      ],
      ['--scheme <scheme>', schemeOptions.scheme, readAs(SchemeName)],
      ['--settings <json>', schemeOptions.settings, readSettings],
      [
        '--secret-file <path>',
        'file with the secret that the provider has made (default: a new one)',
        String,
      ],
    ],
    adds: 'Save the secret now: it cannot be shown again.',
    run: async ({ workspace, secretFile, ...fields }) => {
      const sealer = createSealer(readEncryptionKey())
      const brought = secretFile === undefined ? {} : { secret: readSecretFile(secretFile) }
      return useWorkspace('change', workspace, (administrator) =>
        createSigningSecret(administrator, sealer, { ...fields, ...brought }),
      )
    },
  },
  {
    words: 'secrets reseal',
    description:
      'Encrypt all signing secrets, credentials and values of erasures of all workspaces again, with the first key of ENCRYPTION_KEY, without downtime. The secrets themselves stay the same.',
    example: '--plan',
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
    exits: {
      failed: 'failed, or some secrets cannot be decrypted with any of the keys; the others are done',
      changes: 'with --plan: there are secrets to encrypt again',
    },
    takes: [['--plan', 'only count them']],
    shows: formatResealing,
    run: async ({ plan = false }) => {
      const sealer = createSealer(readEncryptionKey())
      const resealing = await useDatabase('change', ({ database }) => resealSecrets(database, sealer, plan))
      if (resealing.unopened.length > 0 || resealing.changed > 0) process.exitCode = exitCodes.failed
      else if (plan && resealing.resealed > 0) process.exitCode = exitCodes.changes
      return { applied: !plan, ...resealing }
    },
  },
  {
    words: 'erasures list',
    description:
      'List the erasures of all workspaces, oldest first. With --json their values are in it, sealed: keep it outside the database, for a restore.',
    example: '--json',
    columns: ['id', 'workspaceId', 'path', 'status', 'createdBy', 'createdAt'],
    run: () => useDatabase('read', ({ database }) => listAllErasures(database)),
  },
  {
    words: 'erasures repeat',
    description:
      'After a restore: make the erasures of a list again that erasures list --json has printed before. Workers make them, with the same ENCRYPTION_KEY.',
    example: 'erasures.json',
    argument: ['file', 'the list', String],
    says: '{begun} erasures begin again. {unknown} are of workspaces that the database does not have.',
    run: async ({ file }) => {
      const erasures = await readErasures(file)
      return useDatabase('change', ({ database }) => repeatErasures(database, erasures))
    },
  },
]

function formatResealing(resealing: Resealing & { applied: boolean }): string {
  const { applied, secrets, resealed, changed, unopened } = resealing
  const lines = [
    applied
      ? `Encrypted ${resealed} of ${secrets} secrets again with the first key of ENCRYPTION_KEY.`
      : `${resealed} of ${secrets} secrets would be encrypted again with the first key of ENCRYPTION_KEY.`,
  ]
  if (changed > 0)
    lines.push(`${changed} were changed by somebody else in the meantime. Run the command again.`)
  if (unopened.length > 0)
    lines.push(`${unopened.length} cannot be decrypted with any key of ENCRYPTION_KEY:`, ...unopened)
  return lines.join('\n')
}
