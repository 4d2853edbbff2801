import { capitalize, type Fault, maxListed, plainBounds, sharedSchemas } from '@automation/engine'
import { Ajv, type ValidateFunction } from 'ajv'
import { explainFault, type ShapeError } from './explain-fault.js'

/**
 * Creates a compiler for schemas of request bodies. Bodies are checked as they are: without coercion, removed fields or defaults,
 * and with all faults at once. `discriminator` makes Ajv follow the one branch that a tag names, so each fault is reported once, at
 * its own path.
 */
export function createBodyCompiler(): (schema: object) => ValidateFunction {
  const bodies = new Ajv({
    allErrors: true,
    discriminator: true,
    strictTypes: false,
    // An error has its schema and data, for the names that were perhaps meant.
    verbose: true,
    // Our own schemas are valid: to compile the schema of schemas takes a fifth of the time.
    meta: false,
    validateSchema: false,
    keywords: ['patternError'],
    schemas: [...sharedSchemas],
    code: { process: appendFaults },
  })
  // Ajv's own `uniqueItems` calls `toString` of the items, and throws where a body has a field of that name.
  bodies.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isRequired: boolean, items: unknown[]) =>
      !isRequired || new Set(items.map((item) => JSON.stringify(item))).size === items.length,
    error: { message: 'must have no item twice' },
  })
  return (schema) => bodies.compile(schema)
}

/**
 * Ajv copies all faults that it has found for each further `$ref` that fails: 20,000 faulty conditions (60 KB) took 9 s. This changes its code so that it
 * appends them.
 */
function appendFaults(code: string): string {
  return code.replaceAll(/vErrors\.concat\(([\w.]+)\)/g, (_, found) => {
    return `${found}.reduce((all, one) => (all.push(one), all), vErrors)`
  })
}

/**
 * Formats Ajv's errors as faults of the API, without duplicates, at paths such as `conditions[0].operator`.
 *
 * @param most beyond so many, a last fault says that there are more
 */
export function formatShapeFaults(errors: readonly ShapeError[], most = maxFaults): Fault[] {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const fault = faultOf(error, faults.size < maxExplained)
    if (fault) faults.set(`${fault.field}\n${fault.message}`, fault)
    if (faults.size > most)
      return [
        ...[...faults.values()].slice(0, most),
        { field: '', message: `Only the first ${most} faults are listed` },
      ]
  }
  return [...faults.values()]
}

/** Nobody reads more, and the faults of 60 KB would be a response of 2 MB. */
const maxFaults = 1_000

/** To find the nearest of thirty names takes some 50 µs, and a body may have thousands of faults. */
const maxExplained = 20

function faultOf(error: ShapeError, isExplained: boolean): Fault | undefined {
  const fault = plainFaultOf(error)
  const hint = fault && isExplained ? explainFault(error) : undefined
  return fault && hint !== undefined ? { ...fault, message: `${fault.message}. ${hint}` } : fault
}

function plainFaultOf({
  keyword,
  instancePath,
  params,
  message,
  data,
  parentSchema,
}: ShapeError): Fault | undefined {
  const field = fieldOf(instancePath)
  switch (keyword) {
    case 'if':
      return undefined
    case 'required':
      return { field: joinPath(field, String(params.missingProperty)), message: 'Required' }
    case 'false schema':
      return { field, message: 'Unknown field' }
    case 'additionalProperties': {
      const { patternError } = (parentSchema ?? {}) as { patternError?: string }
      // Of an object whose names are free within limits.
      const said = patternError === undefined ? 'Unknown field' : `Must ${patternError}`
      return { field: joinPath(field, String(params.additionalProperty)), message: said }
    }
    case 'discriminator': {
      const missing = params.tagValue === undefined
      const tag = String(params.tag)
      return { field: joinPath(field, tag), message: missing ? 'Required' : `Unknown ${tag}` }
    }
    case 'enum': {
      const allowed = params.allowedValues as unknown[]
      return allowed.length > maxListed && typeof data === 'string'
        ? { field, message: `Must be one of ${allowed.length} values` }
        : { field, message: `Must be one of ${allowed.join(', ')}` }
    }
    default:
      return { field, message: capitalize(plainBounds(message ?? 'is invalid', parentSchema)) }
  }
}

/** Converts `/actions/1/config/to` into `actions[1].config.to`. */
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
