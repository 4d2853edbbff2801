import {
  Counterparty,
  createSealer,
  createSigningSecret,
  listSigningSecrets,
  putSigningSecret,
  retireSigningSecret,
  revokeSigningSecret,
  SecretDirection,
  SigningSecretToCreate,
} from '@automation/access'
import { SchemeName, type SchemeSettings } from '@automation/webhooks'
import { type Command, Option } from 'commander'
import { usageError } from '../command-error.js'
import { readEncryptionKey } from '../config.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatFields, formatTable } from '../format.js'
import { listChoices, readAs, readDuration, readId } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { readSecretFile, readSettings, schemeOptions } from '../scheme-options.js'
import { useWorkspace, useWorkspaceOf } from '../use-database.js'
import { addReseal } from './reseal.js'

const dayMs = 86_400_000

export function addSecrets(program: Command): void {
  const secrets = addGroup(program, {
    name: 'secrets',
    description:
      'Create, list, retire, revoke and reseal the signing secrets of incoming and outgoing webhooks.',
    example: `list --workspace ${exampleId}`,
  })
  addCreate(secrets)
  addCommand(secrets, {
    name: 'list',
    description:
      'List the secrets, newest first, including retired and revoked ones. The secret texts are not shown.',
    example: `--workspace ${exampleId} --provider billing`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option('--provider <provider>', 'list only the secrets of this provider', readAs(Counterparty))
    .option(
      '--direction <direction>',
      `list only the secrets of this direction: ${listChoices(SecretDirection)}`,
      readAs(SecretDirection),
    )
    .action(list)
  addCommand(secrets, {
    name: 'retire',
    description:
      'Retire a secret: it stays valid for a while, until its sender uses the next one. Until then, another call sets a new end.',
    example: `${exampleId} --overlap 24h`,
    reads: ['DATABASE_URL'],
  })
    .argument('<id>', 'id of the secret', readId)
    .option('--workspace <id>', 'refuse if the secret belongs to another workspace', readId)
    .option('--overlap <duration>', 'how long it stays valid (default: 24h)', readDuration)
    .action(retire)
  addCommand(secrets, {
    name: 'revoke',
    description: 'Revoke a secret permanently, after a confirmation. It is invalid from the next webhook on.',
    example: exampleId,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .argument('<id>', 'id of the secret', readId)
    .option('--workspace <id>', 'refuse if the secret belongs to another workspace', readId)
    .option(...yesOption)
    .action(revoke)
  addReseal(secrets)
}

function addCreate(secrets: Command): void {
  addCommand(secrets, {
    name: 'create',
    description: 'Create a signing secret and show it. It cannot be shown again.',
    example: `--workspace ${exampleId} --provider billing`,
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace that receives or sends the webhooks', readId)
    .requiredOption(
      '--provider <provider>',
      'the provider that signs with it; for an outgoing secret, the called host or the id of a subscription',
      readAs(SigningSecretToCreate.properties.provider),
    )
    .option(
      '--direction <direction>',
      `${listChoices(SecretDirection)}: whether the workspace receives or sends the webhooks (default: incoming)`,
      readAs(SecretDirection),
    )
    .addOption(new Option('--scheme <scheme>', schemeOptions.scheme).argParser(readAs(SchemeName)))
    .addOption(new Option('--settings <json>', schemeOptions.settings).argParser(readSettings))
    .option('--secret-file <path>', 'file with the secret that the provider has made (default: a new one)')
    .action(create)
  addCommand(secrets, {
    name: 'set',
    description:
      'Store the text that the provider has made, or other settings of the scheme. The id stays, and the previous text is no longer valid.',
    example: `${exampleId} --secret-file stripe.txt`,
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
  })
    .argument('<id>', 'id of the secret', readId)
    .option('--workspace <id>', 'refuse if the secret belongs to another workspace', readId)
    .addOption(new Option('--settings <json>', schemeOptions.settings).argParser(readSettings))
    .option('--secret-file <path>', 'file with the secret that the provider has made')
    .action(set)
}

interface SchemeChoice {
  secretFile?: string
  settings?: SchemeSettings
}

async function create(
  {
    workspace,
    secretFile,
    ...fields
  }: SchemeChoice & {
    workspace: string
    provider: string
    direction?: SecretDirection
    scheme?: SchemeName
  },
  command: Command,
): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const brought = secretFile === undefined ? {} : { secret: readSecretFile(secretFile) }
  const secret = await useWorkspace('change', workspace, (administrator) =>
    createSigningSecret(administrator, sealer, { ...fields, ...brought }),
  )
  const isOurs = secret.direction === 'incoming' && secret.scheme === 'automation'
  const use = isOurs ? ' Senders put its id into X-Signature-Id.' : ''
  const { settings, ...shown } = secret
  const lines = formatFields({ ...shown, ...(settings && { settings: JSON.stringify(settings) }) })
  print(command, secret, `${lines}\n\nSave the secret now: it cannot be shown again.${use}`)
}

async function set(
  id: string,
  { workspace, secretFile, settings }: SchemeChoice & { workspace?: string },
  command: Command,
): Promise<void> {
  if (secretFile === undefined && settings === undefined)
    throw usageError('Give --secret-file, --settings, or both.')
  const sealer = createSealer(readEncryptionKey())
  const input = {
    ...(settings !== undefined && { settings }),
    ...(secretFile !== undefined && { secret: readSecretFile(secretFile) }),
  }
  const secret = await useWorkspaceOf('signing secret', id, workspace, (administrator) =>
    putSigningSecret(administrator, sealer, id, input),
  )
  print(command, secret, `The signing secret of ${secret.provider} is changed.`)
}

async function list(
  { workspace, ...filter }: { workspace: string; provider?: string; direction?: SecretDirection },
  command: Command,
): Promise<void> {
  const secrets = await useWorkspace('read', workspace, ({ database, workspaceId }) =>
    listSigningSecrets(database.forWorkspace(workspaceId), filter),
  )
  print(
    command,
    secrets,
    formatTable(secrets, [
      'id',
      'direction',
      'provider',
      'scheme',
      'state',
      'createdAt',
      'retiresAt',
      'lastUsedAt',
    ]),
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
  print(command, secret, `The signing secret of ${secret.provider} is valid until ${secret.retiresAt}.`)
}

async function revoke(id: string, options: { workspace?: string }, command: Command): Promise<void> {
  const confirm = prepareConfirmation(command)
  const secret = await useWorkspaceOf('signing secret', id, options.workspace, async (administrator) => {
    await confirm(`Revoke the signing secret ${id} permanently?`)
    return revokeSigningSecret(administrator, id)
  })
  print(command, secret, `The signing secret of ${secret.provider} is revoked.`)
}
