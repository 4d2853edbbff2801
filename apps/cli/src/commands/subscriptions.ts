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
import { formatFields, formatTable } from '../format.js'
import { addCommand, exampleId, print } from '../program.js'
import { useWorkspace } from '../use-database.js'
import { listChoices, readAs, readId, readListOf } from '../values.js'

const workspace = ['--workspace <id>', 'whose subscription', readId] as const
const { description, eventTypes } = SubscriptionToCreate.properties

export function addSubscriptions(program: Command): void {
  const subscriptions = addCommand(program, {
    name: 'subscriptions',
    description: 'Say which URLs are told what happens in a workspace.',
    example: `list --workspace ${exampleId}`,
  })
  addCommand(subscriptions, {
    name: 'create',
    description:
      'Subscribe a URL and show the secret that signs what it gets, this once. Needs ENCRYPTION_KEY.',
    example: `--workspace ${exampleId} --url https://example.com/hooks --events rule.paused,execution.failed`,
  })
    .requiredOption(...workspace)
    .requiredOption('--url <url>', 'what is called, by http or https', readUrl)
    .requiredOption(
      '--events <types>',
      `some of ${listChoices(ServiceEventType)}, with commas between`,
      readListOf(eventTypes),
    )
    .option('--description <text>', 'what people call it', readAs(description))
    .action(create)
  addCommand(subscriptions, {
    name: 'list',
    description: 'Show the subscriptions, the newest first.',
    example: `--workspace ${exampleId}`,
  })
    .requiredOption(...workspace)
    .action(list)
  addCommand(subscriptions, {
    name: 'test',
    description: 'Send a ping to a subscription. It needs a worker that runs.',
    example: `${exampleId} --workspace ${exampleId}`,
  })
    .argument('<id>', 'its id', readId)
    .requiredOption(...workspace)
    .action(test)
  addCommand(subscriptions, {
    name: 'delete',
    description: 'Delete a subscription: what waits for it is cancelled, and its secrets are revoked.',
    example: `${exampleId} --workspace ${exampleId}`,
  })
    .argument('<id>', 'its id', readId)
    .requiredOption(...workspace)
    .action(remove)
}

async function create({ workspace, events, ...fields }: CreateOptions, command: Command): Promise<void> {
  const sealer = createSealer(readEncryptionKey())
  const subscription = await useWorkspace(workspace, (administrator) =>
    createSubscription(administrator, sealer, { ...fields, eventTypes: events }),
  )
  print(
    command,
    subscription,
    `${formatFields(subscription)}\n\nKeep the secret now: it is shown this once. The receiver checks with it who calls.`,
  )
}

async function list({ workspace }: Options, command: Command): Promise<void> {
  const subscriptions = await useWorkspace(workspace, ({ database, workspaceId }) =>
    listSubscriptions(database, workspaceId),
  )
  print(
    command,
    subscriptions,
    formatTable(subscriptions, ['id', 'url', 'eventTypes', 'isActive', 'description', 'createdAt']),
  )
}

async function test(id: string, { workspace }: Options, command: Command): Promise<void> {
  const delivery = await useWorkspace(workspace, (administrator) => pingSubscription(administrator, id))
  print(command, { id: delivery }, `A ping is on its way: execution ${delivery} tells what came of it.`)
}

async function remove(id: string, { workspace }: Options, command: Command): Promise<void> {
  await useWorkspace(workspace, (administrator) => deleteSubscription(administrator, id))
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
