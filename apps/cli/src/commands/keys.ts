import {
  type ApiKey,
  ApiKeyToCreate,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  Scope,
} from '@automation/access'
import type { Command } from 'commander'
import { formatFields, formatTable } from '../format.js'
import { addCommand, exampleId, print } from '../program.js'
import { useWorkspace, useWorkspaceOf } from '../use-database.js'
import { listChoices, readAs, readDuration, readId, readListOf } from '../values.js'

export function addKeys(program: Command): void {
  const keys = addCommand(program, {
    name: 'keys',
    description: 'Create, list and revoke API keys, which let programs in.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(keys, {
    name: 'create',
    description: 'Make an API key and show it, this once.',
    example: `--workspace ${exampleId} --name CI --scopes rules:write,receipts:read --expires-in 90d`,
  })
    .requiredOption('--workspace <id>', 'where it lets in', readId)
    .requiredOption('--name <name>', 'what people call it', readAs(ApiKeyToCreate.properties.name))
    .requiredOption(
      '--scopes <scopes>',
      `some of ${listChoices(Scope)}, with commas between`,
      readListOf(ApiKeyToCreate.properties.scopes),
    )
    .option('--expires-in <duration>', 'such as 90d (default: never)', readDuration)
    .action(create)
  addCommand(keys, {
    name: 'list',
    description: 'Show the keys without their text, the newest first, revoked and expired ones too.',
    example: `--workspace ${exampleId}`,
  })
    .requiredOption('--workspace <id>', 'whose keys', readId)
    .action(list)
  addCommand(keys, {
    name: 'revoke',
    description: 'Let a key in no more, from the next request on.',
    example: exampleId,
  })
    .argument('<id>', 'its id; it stands between ark_ and the next _ of the key, too', readId)
    .option('--workspace <id>', 'refuse where the key belongs to another one', readId)
    .action(revoke)
}

async function create(
  options: { workspace: string; name: string; scopes: ApiKey['scopes']; expiresIn?: number },
  command: Command,
): Promise<void> {
  const { workspace, expiresIn, ...fields } = options
  const expiry = expiresIn === undefined ? {} : { expiresAt: new Date(Date.now() + expiresIn).toISOString() }
  const key = await useWorkspace(workspace, (administrator) =>
    createApiKey(administrator, { ...fields, ...expiry }),
  )
  print(
    command,
    key,
    `${formatFields(key)}\n\nKeep the key now: it is shown this once, and only its SHA-256 is stored.`,
  )
}

async function list(options: { workspace: string }, command: Command): Promise<void> {
  const keys = await useWorkspace(options.workspace, ({ database, workspaceId }) =>
    listApiKeys(database.forWorkspace(workspaceId)),
  )
  print(command, keys, formatTable(keys, ['id', 'name', 'scopes', 'state', 'expiresAt', 'lastUsedAt']))
}

async function revoke(id: string, options: { workspace?: string }, command: Command): Promise<void> {
  const key = await useWorkspaceOf('API key', id, options.workspace, (administrator) =>
    revokeApiKey(administrator, id),
  )
  print(command, key, `The API key ${key.name} is revoked.`)
}
