import {
  ApiKeyToCreate,
  createApiKey,
  createOperatorKey,
  createSealer,
  createSigningSecret,
  listOperatorKeys,
  OperatorKeyName,
  type Resealing,
  resealSecrets,
  revokeOperatorKey,
  Scope,
  SecretDirection,
  SigningSecretToCreate,
} from '@automation/access'
import { SchemeName } from '@automation/webhooks'
import { readEncryptionKey } from '../config.js'
import { exitCodes } from '../exit-codes.js'
import { listChoices, readAs, readDuration, readId, readListOf } from '../option-readers.js'
import { exampleId } from '../program.js'
import { readSecretFile, readSettings, schemeOptions } from '../scheme-options.js'
import { useDatabase, useWorkspace } from '../use-database.js'
import type { DatabaseOperation } from './database-operation.js'
import { workspaceOperations, workspaceOption } from './workspace-operations.js'

export const databaseOperations: readonly DatabaseOperation[] = [
  ...workspaceOperations,
  {
    words: 'keys create',
    description: 'Create an API key and show it. It cannot be shown again.',
    example: `--workspace ${exampleId} --name CI --scopes rules:write,receipts:read --expires-in 90d`,
    needs: [
      workspaceOption,
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
      workspaceOption,
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
