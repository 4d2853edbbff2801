import {
  type ApiKey,
  ApiKeyToCreate,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  Scope,
} from '@automation/access'
import type { Command } from 'commander'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatFields, formatTable } from '../format.js'
import { listChoices, readAs, readDuration, readId, readListOf } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useWorkspace, useWorkspaceOf } from '../use-database.js'

export function addKeys(program: Command): void {
  const keys = addGroup(program, {
    name: 'keys',
    description: 'Create, list and revoke API keys, with which programs call the API.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(keys, {
    name: 'create',
    description: 'Create an API key and show it. It cannot be shown again.',
    example: `--workspace ${exampleId} --name CI --scopes rules:write,receipts:read --expires-in 90d`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace that the key gives access to', readId)
    .requiredOption('--name <name>', 'name of the key', readAs(ApiKeyToCreate.properties.name))
    .requiredOption(
      '--scopes <scopes>',
      `comma-separated list of ${listChoices(Scope)}`,
      readListOf(ApiKeyToCreate.properties.scopes),
    )
    .option('--expires-in <duration>', 'lifetime, such as 90d (default: the key never expires)', readDuration)
    .action(create)
  addCommand(keys, {
    name: 'list',
    description:
      'List the keys, newest first, including revoked and expired ones. The key texts are not shown.',
    example: `--workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .action(list)
  addCommand(keys, {
    name: 'revoke',
    description: 'Revoke a key permanently, after a confirmation. It is refused from the next request on.',
    example: exampleId,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .argument('<id>', 'id of the key; it is also the part of the key between ark_ and the next _', readId)
    .option('--workspace <id>', 'refuse if the key belongs to another workspace', readId)
    .option(...yesOption)
    .action(revoke)
}

async function create(
  options: { workspace: string; name: string; scopes: ApiKey['scopes']; expiresIn?: number },
  command: Command,
): Promise<void> {
  const { workspace, expiresIn, ...fields } = options
  const expiry = expiresIn === undefined ? {} : { expiresAt: new Date(Date.now() + expiresIn).toISOString() }
  const key = await useWorkspace('change', workspace, (administrator) =>
    createApiKey(administrator, { ...fields, ...expiry }),
  )
  print(
    command,
    key,
    `${formatFields(key)}\n\nSave the key now: it cannot be shown again, because only its SHA-256 hash is stored.`,
  )
}

async function list(options: { workspace: string }, command: Command): Promise<void> {
  const keys = await useWorkspace('read', options.workspace, ({ database, workspaceId }) =>
    listApiKeys(database.forWorkspace(workspaceId)),
  )
  print(command, keys, formatTable(keys, ['id', 'name', 'scopes', 'state', 'expiresAt', 'lastUsedAt']))
}

async function revoke(id: string, options: { workspace?: string }, command: Command): Promise<void> {
  const confirm = prepareConfirmation(command)
  const key = await useWorkspaceOf('API key', id, options.workspace, async (administrator) => {
    await confirm(`Revoke the API key ${id} permanently?`)
    return revokeApiKey(administrator, id)
  })
  print(command, key, `API key ${key.name} is revoked.`)
}
