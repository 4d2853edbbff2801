import { serviceEventSchemas } from '@automation/access'
import { eventTypeDefinitions } from '@automation/engine'
import { type Document, listOperations, type Schema } from './document.js'

/** What an id in a path is of, by the part before it. */
const nouns: Record<string, string> = {
  'automation-rules': 'rule',
  events: 'event',
  executions: 'execution',
  tasks: 'task',
  decisions: 'execution that waits for the decision',
  backtests: 'backtest',
  'email-templates': 'email template',
  'webhook-receipts': 'receipt',
  'api-keys': 'API key',
  invitations: 'invitation',
  erasures: 'erasure',
  'embed-sessions': 'embed session',
  'signing-secrets': 'signing secret',
  subscriptions: 'subscription',
  workspaces: 'workspace, the same as x-workspace-id',
}
/** A value, or several, and what they mean: `done: all of its executions are finished.` */
const meaning = /(?:^|\. )((?:\w+, )*\w+)(?: \(default\))?: ([^.]+)/g

/** Describes ids in paths, and each value of an enum whose description has them one after another. */
export function describeValues(document: Document): void {
  for (const [path, methods] of Object.entries(document.paths))
    for (const { parameters = [] } of Object.values(methods))
      for (const parameter of parameters) {
        const [, before = ''] = /([\w-]+)\/\{id\}/.exec(path) ?? []
        const noun = nouns[before]
        if (parameter.in === 'path' && parameter.name === 'id' && noun)
          parameter.description ??= `Id of the ${noun}`
      }
  const { schemas } = document.components
  for (const schema of Object.values(schemas)) describeEnums(schema)
  for (const { parameters = [] } of listOperations(document))
    for (const { schema } of parameters) describeEnums(schema)
  const { EventType, ServiceEventType } = schemas
  if (EventType)
    EventType['x-enumDescriptions'] = textsOf(
      eventTypeDefinitions.map(({ type: name, description }) => ({ name, description })),
    )
  if (ServiceEventType) ServiceEventType['x-enumDescriptions'] = textsOf(listServiceEvents())
}

function describeEnums(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const { enum: values, description } = node as Schema
  if (Array.isArray(values) && typeof description === 'string') {
    const texts = Object.fromEntries(
      [...description.matchAll(meaning)].flatMap(([, names = '', text = '']) =>
        names.split(', ').map((name) => [name, text]),
      ),
    )
    // A description may say more than the values, such as which one is the default.
    const meanings = values.map(String).map((value) => [value, texts[value]])
    if (meanings.every(([, text]) => text !== undefined))
      (node as Schema)['x-enumDescriptions'] = Object.fromEntries(meanings)
  }
  for (const [key, part] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') describeEnums(part)
}

function listServiceEvents(): { name: string; description: string }[] {
  return Object.entries(serviceEventSchemas).map(([name, schema]) => ({
    name,
    description: String((schema as Schema).description),
  }))
}

function textsOf(described: { name: string; description: string }[]): Record<string, string> {
  return Object.fromEntries(described.map(({ name, description }) => [name, description]))
}
