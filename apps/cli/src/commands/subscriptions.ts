import {
  createSealer,
  createSubscription,
  deleteSubscription,
  findSubscriptionUrlFault,
  listSubscriptions,
  pingSubscription,
  ServiceEventType,
  SubscriptionToCreate,
} from '@automation/access'
import { type Command, InvalidArgumentError } from 'commander'
import { readEncryptionKey } from '../config.js'
import { prepareConfirmation, yesOption } from '../confirm.js'
import { formatFields, formatTable } from '../format.js'
import { listChoices, readAs, readId, readListOf } from '../option-readers.js'
import { addCommand, addGroup, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'

const workspace = ['--workspace <id>', 'id of the workspace', readId] as const
const { description, eventTypes } = SubscriptionToCreate.properties

export function addSubscriptions(program: Command): void {
  const subscriptions = addGroup(program, {
    name: 'subscriptions',
    description: 'Manage the URLs that receive the service events of a workspace.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(subscriptions, {
    name: 'create',
    description:
      'Create a subscription: webhooks to a URL, about events such as a failed execution. The secret that signs them is shown, and cannot be shown again.',
    example: `--workspace ${exampleId} --url https://example.com/hooks --events rule.paused,execution.failed`,
    reads: ['DATABASE_URL', 'ENCRYPTION_KEY'],
  })
    .requiredOption(...workspace)
    .requiredOption('--url <url>', 'http or https URL to call', readUrl)
    .requiredOption(
      '--events <types>',
      `comma-separated list of ${listChoices(ServiceEventType)}`,
      readListOf(eventTypes),
    )
    .option('--description <text>', 'description for people', readAs(description))
    .action(create)
  addCommand(subscriptions, {
    name: 'list',
    description: 'List the subscriptions, newest first.',
    example: `--workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
  })
    .requiredOption(...workspace)
    .action(list)
  addCommand(subscriptions, {
    name: 'test',
    description: 'Send a ping to a subscription. This needs a running worker.',
    example: `${exampleId} --workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
  })
    .argument('<id>', 'id of the subscription', readId)
    .requiredOption(...workspace)
    .action(test)
  addCommand(subscriptions, {
    name: 'delete',
    description:
      'Delete a subscription permanently, cancel its waiting deliveries and revoke its secrets, after a confirmation.',
    example: `${exampleId} --workspace ${exampleId}`,
    reads: ['DATABASE_URL'],
    exits: ['declined'],
  })
    .argument('<id>', 'id of the subscription', readId)
    .requiredOption(...workspace)
    .option(...yesOption)
    .action(remove)
}

async function create({ workspace, events, ...fields }: CreateOptions, command: Command): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const subscription = await useWorkspace('change', workspace, (administrator) =>
    createSubscription(administrator, sealer, { ...fields, eventTypes: events }),
  )
  print(
    command,
    subscription,
    `${formatFields(subscription)}\n\nSave the secret now: it cannot be shown again. The receiver verifies the signatures with it.`,
  )
}

async function list({ workspace }: Options, command: Command): Promise<void> {
  const subscriptions = await useWorkspace('read', workspace, ({ database, workspaceId }) =>
    listSubscriptions(database, workspaceId),
  )
  print(
    command,
    subscriptions,
    formatTable(subscriptions, ['id', 'url', 'eventTypes', 'isActive', 'description', 'createdAt']),
  )
}

async function test(id: string, { workspace }: Options, command: Command): Promise<void> {
  const delivery = await useWorkspace('change', workspace, (administrator) =>
    pingSubscription(administrator, id),
  )
  print(command, { id: delivery }, `The ping is queued. Execution ${delivery} shows its result.`)
}

async function remove(id: string, { workspace }: Options, command: Command): Promise<void> {
  const confirm = prepareConfirmation(command)
  await useWorkspace('change', workspace, async (administrator) => {
    await confirm(`Delete the subscription ${id} permanently?`)
    await deleteSubscription(administrator, id)
  })
  print(command, { id, deleted: true }, 'The subscription is deleted.')
}

interface Options {
  workspace: string
}

interface CreateOptions extends Options {
  url: string
  events: ServiceEventType[]
  description?: string
}

function readUrl(text: string): string {
  const fault = findSubscriptionUrlFault(readAs(SubscriptionToCreate.properties.url)(text))
  if (fault !== undefined)
    throw new InvalidArgumentError(`It ${fault.charAt(0).toLowerCase()}${fault.slice(1)}.`)
  return text
}
