import {
  createSealer,
  createSigningSecret,
  listSigningSecrets,
  Provider,
  retireSigningSecret,
  revokeSigningSecret,
  SecretDirection,
  SigningSecretToCreate,
} from '@automation/access'
import type { Command } from 'commander'
import { readEncryptionKey } from '../config.js'
import { formatFields, formatTable } from '../format.js'
import { addCommand, exampleId, print } from '../program.js'
import { useWorkspace, useWorkspaceOf } from '../use-database.js'
import { listChoices, readAs, readDuration, readId } from '../values.js'

const dayMs = 86_400_000
const direction = [
  '--direction <direction>',
  `${listChoices(SecretDirection)}: who sends what it signs`,
  readAs(SecretDirection),
] as const

export function addSecrets(program: Command): void {
  const secrets = addCommand(program, {
    name: 'secrets',
    description: 'Create, list, retire and revoke the signing secrets of incoming and outgoing webhooks.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(secrets, {
    name: 'create',
    description: 'Make a signing secret and show it, this once. Needs ENCRYPTION_KEY.',
    example: `--workspace ${exampleId} --provider billing`,
  })
    .requiredOption('--workspace <id>', 'where its webhooks go, or come from', readId)
    .requiredOption(
      '--provider <provider>',
      'who signs with it; of an outgoing one the host that is called, or the id of a subscription',
      readAs(SigningSecretToCreate.properties.provider),
    )
    .option(...direction)
    .action(create)
  addCommand(secrets, {
    name: 'list',
    description: 'Show the secrets without their text, the newest first, retired and revoked ones too.',
    example: `--workspace ${exampleId} --provider billing`,
  })
    .requiredOption('--workspace <id>', 'whose secrets', readId)
    .option('--provider <provider>', 'of this one alone', readAs(Provider))
    .option(...direction)
    .action(list)
  addCommand(secrets, {
    name: 'retire',
    description: 'Let a secret sign for a while longer, until its sender has the next one.',
    example: `${exampleId} --overlap 24h`,
  })
    .argument('<id>', 'its id', readId)
    .option('--workspace <id>', 'refuse where the secret belongs to another one', readId)
    .option('--overlap <duration>', 'for how long (default: 24h)', readDuration)
    .action(retire)
  addCommand(secrets, {
    name: 'revoke',
    description: 'Let a secret sign no more, from the next webhook on.',
    example: exampleId,
  })
    .argument('<id>', 'its id', readId)
    .option('--workspace <id>', 'refuse where the secret belongs to another one', readId)
    .action(revoke)
}

async function create(
  { workspace, ...fields }: { workspace: string; provider: string; direction?: SecretDirection },
  command: Command,
): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const secret = await useWorkspace(workspace, (administrator) =>
    createSigningSecret(administrator, sealer, fields),
  )
  const use = secret.direction === 'incoming' ? ' Its id goes into X-Signature-Id.' : ''
  print(command, secret, `${formatFields(secret)}\n\nKeep the secret now: it is shown this once.${use}`)
}

async function list(
  { workspace, ...wanted }: { workspace: string; provider?: string; direction?: SecretDirection },
  command: Command,
): Promise<void> {
  const secrets = await useWorkspace(workspace, ({ database, workspaceId }) =>
    listSigningSecrets(database.forWorkspace(workspaceId), wanted),
  )
  print(
    command,
    secrets,
    formatTable(secrets, ['id', 'direction', 'provider', 'state', 'createdAt', 'retiresAt', 'lastUsedAt']),
  )
}

async function retire(
  id: string,
  { workspace, overlap = dayMs }: { workspace?: string; overlap?: number },
  command: Command,
): Promise<void> {
  const secret = await useWorkspaceOf('signing secret', id, workspace, (administrator) =>
    retireSigningSecret(administrator, id, overlap),
  )
  print(command, secret, `The signing secret of ${secret.provider} signs until ${secret.retiresAt}.`)
}

async function revoke(id: string, options: { workspace?: string }, command: Command): Promise<void> {
  const secret = await useWorkspaceOf('signing secret', id, options.workspace, (administrator) =>
    revokeSigningSecret(administrator, id),
  )
  print(command, secret, `The signing secret of ${secret.provider} is revoked.`)
}
