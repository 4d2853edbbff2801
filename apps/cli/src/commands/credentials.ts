import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import {
  CredentialKind,
  CredentialName,
  CredentialToPut,
  createSealer,
  findCredentialFaults,
  listCredentials,
  putCredential,
} from '@automation/access'
import { deleteCredential } from '@automation/rules'
import type { Command } from 'commander'
import { Errors } from 'typebox/value'
import { CommandError, usageError } from '../command-error.js'
import { readEncryptionKey } from '../config.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatFields, formatTable } from '../format.js'
import { listChoices, readAs, readId, readListOf } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'

const fields = CredentialToPut.properties

export function addCredentials(program: Command): void {
  const credentials = addGroup(program, {
    name: 'credentials',
    description: 'Set, list and delete the credentials that calls of rules send as {{credentials.NAME}}.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(credentials, {
    name: 'set',
    description:
      'Create a credential, or replace its values and hosts. The secret (a token, a password or a client secret) is read from standard input or a file, never from the command line.',
    example: `CRM --workspace ${exampleId} --hosts api.example.com --file token.txt`,
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
  })
    .argument('<name>', 'name, as in {{credentials.NAME}}', readAs(CredentialName))
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .requiredOption(
      '--hosts <hosts>',
      'comma-separated list of the only hosts that get it',
      readListOf(fields.hosts),
    )
    .option('--kind <kind>', `${listChoices(CredentialKind)} (default: text)`, readAs(CredentialKind))
    .option('--file <path>', 'file with the secret (default: standard input)')
    .option('--username <name>', 'of kind basic')
    .option('--token-url <url>', 'of kind oauth2: URL of the token endpoint')
    .option('--client-id <id>', 'of kind oauth2')
    .option(
      '--client-authentication <place>',
      `of kind oauth2: ${listChoices(fields.clientAuthentication)} (default: header)`,
      readAs(fields.clientAuthentication),
    )
    .option('--scope <scope>', 'of kind oauth2')
    .option('--audience <audience>', 'of kind oauth2')
    .action(set)
  addCommand(credentials, {
    name: 'list',
    description: 'List the credentials by name. Their values are not shown.',
    example: `--workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .action(list)
  addCommand(credentials, {
    name: 'delete',
    description: 'Delete a credential that no active rule and no draft uses, after a confirmation.',
    example: `CRM --workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .argument('<name>', 'name of the credential', readAs(CredentialName))
    .requiredOption('--workspace <id>', 'id of the workspace', readId)
    .option(...yesOption)
    .action(remove)
}

interface SetOptions extends Omit<CredentialToPut, 'value' | 'password' | 'clientSecret'> {
  workspace: string
  file?: string
}

/** What the secret of each kind is. */
const secretOf = { text: 'value', basic: 'password', oauth2: 'clientSecret' } as const

async function set(name: string, options: SetOptions, command: Command): Promise<void> {
  const { workspace, file, ...given } = options
  const sealer = createSealer(readEncryptionKey())
  const credential = { ...given, [secretOf[given.kind ?? 'text']]: await readSecret(file) } as CredentialToPut
  refuseFaults(credential)
  const { credential: stored, isNew } = await useWorkspace('change', workspace, (administrator) =>
    putCredential(administrator, sealer, name, credential),
  )
  const done = isNew ? 'Created' : 'Replaced'
  print(command, stored, `${formatFields(stored)}\n\n${done}. Rules use it as {{credentials.${name}}}.`)
}

/** @throws CommandError with a fault, in which no secret is */
function refuseFaults(credential: CredentialToPut): void {
  const shape = Errors(CredentialToPut, credential).map(({ instancePath, message }) => {
    return { field: instancePath.slice(1), message }
  })
  const [fault] = [...shape, ...findCredentialFaults(credential)]
  if (fault !== undefined) throw usageError(`${fault.field}: ${fault.message}.`)
}

/** Without the line break that ends it, which editors and echo add. */
async function readSecret(path: string | undefined): Promise<string> {
  if (path === undefined && process.stdin.isTTY)
    throw usageError('Pipe the secret into the command, or name a file with --file.')
  const reading = path === undefined ? text(process.stdin) : readFile(path, 'utf8')
  const content = await reading.catch((error: Error) => {
    throw new CommandError(`The secret cannot be read: ${error.message}.`, { cause: error })
  })
  return content.replace(/\r?\n$/, '')
}

async function list({ workspace }: { workspace: string }, command: Command): Promise<void> {
  const credentials = await useWorkspace('read', workspace, ({ database, workspaceId }) =>
    listCredentials(database.forWorkspace(workspaceId)),
  )
  print(command, credentials, formatTable(credentials, ['name', 'kind', 'hosts', 'updatedAt', 'lastUsedAt']))
}

async function remove(name: string, { workspace }: { workspace: string }, command: Command): Promise<void> {
  const confirm = prepareConfirmation(command)
  await useWorkspace('change', workspace, async (administrator) => {
    await confirm(`Delete the credential ${name} permanently?`)
    await deleteCredential(administrator, name)
  })
  print(command, { name, deleted: true }, `The credential ${name} is deleted.`)
}
