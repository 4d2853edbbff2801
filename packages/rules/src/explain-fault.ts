import {
  describeNearest,
  describeUnknownType,
  eventTypes,
  instantDescription,
  maxListed,
  readTime,
} from '@automation/engine'
import type { ErrorObject } from 'ajv'

/** A fault of shape, as every Ajv reports it. */
export type ShapeError = Pick<
  ErrorObject,
  'keyword' | 'instancePath' | 'params' | 'message' | 'parentSchema' | 'data'
>

/** As much of a schema as the hints read. */
interface Known {
  description?: string
  patternError?: string
  properties?: Record<string, { enum?: unknown[]; const?: unknown }>
  oneOf?: Known[]
}

/** Where all values of a tag stand. */
const lists: Record<string, string> = { operator: '/docs/rules#clauses', type: '/docs/rules#actions' }

/** A fault's second sentence: the names that were perhaps meant. undefined where there is nothing to add. */
export function explainFault({
  keyword,
  instancePath,
  params,
  parentSchema,
  data,
}: ShapeError): string | undefined {
  const { description, patternError, properties = {}, oneOf = [] } = (parentSchema ?? {}) as Known
  switch (keyword) {
    case 'false schema':
      return instancePath.endsWith('/value') ? 'This operator accepts no value' : undefined
    case 'additionalProperties':
      if (patternError !== undefined) return undefined
      return isOfServer(String(params.additionalProperty), instancePath, properties)
        ? 'Only the server sets it'
        : describeNearest(String(params.additionalProperty), Object.keys(properties))
    case 'discriminator': {
      const tag = String(params.tag)
      if (typeof params.tagValue !== 'string') return undefined
      const names = oneOf.flatMap((branch) => valuesOf(branch, tag))
      return describeNearest(params.tagValue, names, lists[tag])
    }
    case 'enum': {
      const names = (params.allowedValues as unknown[]).map(String)
      if (names.length <= maxListed || typeof data !== 'string') return undefined
      return names.includes(eventTypes[0] as string)
        ? describeUnknownType(data)
        : describeNearest(data, names)
    }
    case 'type':
      // A time of a rule, which the data of events may have as a number.
      if (description === instantDescription && !Number.isNaN(readTime(data)))
        return `Write it as "${new Date(readTime(data)).toISOString()}"`
      return isGroup(data) ? 'Put the condition group into a list: [{ "all": [] }]' : undefined
    default:
      return undefined
  }
}

/** Of what has a name: by itself, or in the list of a file. */
function isOfServer(name: string, instancePath: string, properties: object): boolean {
  return /^(?:\/\w+\/\d+)?$/.test(instancePath) && 'name' in properties && fieldsOfServer.has(name)
}

const fieldsOfServer = new Set(
  'id workspaceId version executionCount successCount failureCount lastSuccessAt lastFailureAt lastError createdAt createdBy updatedAt nextRunAt'.split(
    ' ',
  ),
)

/** Without aliases, which follow the name. */
function valuesOf({ properties = {} }: Known, tag: string): string[] {
  const { enum: values, const: value } = properties[tag] ?? {}
  const [name] = values ?? [value]
  return typeof name === 'string' ? [name] : []
}

/** The conditions of a rule are a list, and a group is one of them. */
function isGroup(data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
  return ['all', 'any', 'not'].some((keyword) => Object.hasOwn(data, keyword))
}
