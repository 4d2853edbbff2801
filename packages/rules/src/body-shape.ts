import { type Fault, sharedSchemas } from '@automation/engine'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/** What is known of a fault of shape, from whichever Ajv. */
export type ShapeError = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params' | 'message'>

/**
 * Compiles the schemas of what people send, which is checked as it is: no coercion, no silent removal, no defaults, every
 * fault at once. `discriminator` lets Ajv follow the one branch that a tag names, so a fault is told once and at its own path.
 */
export function createBodyCompiler(): (schema: object) => ValidateFunction {
  const bodies = new Ajv({
    allErrors: true,
    discriminator: true,
    strictTypes: false,
    schemas: [...sharedSchemas],
  })
  // Ajv's own calls what it compares by `toString`, and throws where a body has a field of that name.
  bodies.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isWanted: boolean, items: unknown[]) =>
      !isWanted || new Set(items.map((item) => JSON.stringify(item))).size === items.length,
    error: { message: 'must hold each item once' },
  })
  return (schema) => bodies.compile(schema)
}

/** Ajv's errors as the interface tells them: one entry a fault, paths such as `conditions[0].operator`. */
export function tellShapeFaults(errors: readonly ShapeError[]): Fault[] {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const fault = faultOf(error)
    if (fault) faults.set(`${fault.field}\n${fault.message}`, fault)
  }
  return [...faults.values()]
}

function faultOf({ keyword, instancePath, params, message }: ShapeError): Fault | undefined {
  const field = fieldOf(instancePath)
  switch (keyword) {
    case 'if':
      return undefined
    case 'required':
      return { field: joinPath(field, String(params.missingProperty)), message: 'Required' }
    case 'false schema':
      return { field, message: 'Unknown field' }
    case 'additionalProperties':
      return { field: joinPath(field, String(params.additionalProperty)), message: 'Unknown field' }
    case 'discriminator': {
      const missing = params.tagValue === undefined
      const tag = String(params.tag)
      return { field: joinPath(field, tag), message: missing ? 'Required' : `Unknown ${tag}` }
    }
    case 'enum':
      return { field, message: `Must be one of ${(params.allowedValues as unknown[]).join(', ')}` }
    default:
      return { field, message: sentence(message ?? 'is invalid') }
  }
}

/** `/actions/1/config/to` as `actions[1].config.to`. */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (field, segment) => (/^\d+$/.test(segment) ? `${field}[${segment}]` : joinPath(field, segment)),
      '',
    )
}

function joinPath(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`
}

function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
