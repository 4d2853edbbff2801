import { Compile } from 'typebox/compile'
import type { ActionDefinition } from './actions/action-definition.js'
import { actionDefinitions } from './actions/index.js'
import { plainBounds } from './plain-bounds.js'
import { describeUnfit, type Template } from './template.js'

const checks = new Map(
  actionDefinitions.map((definition: ActionDefinition) => [
    definition.type,
    { schema: Compile(definition.config), formats: Object.entries(definition.formats) },
  ]),
)

/**
 * Describes why a rendered config does not fit its action, such as an empty recipient or a URL without a host, and which placeholders
 * of that field have no value or no text: `config.to must have at least 1 character: {{email}} is missing`. Undefined when it fits.
 */
export function findConfigFault(
  type: string,
  config: unknown,
  template?: Template,
  data?: unknown,
): string | undefined {
  const found = findFault(type, config)
  if (found === undefined) return undefined
  const unfit = template ? describeUnfit(findEntry(template, found.keys), data).slice(0, maxNamed) : []
  return unfit.length === 0 ? found.message : `${found.message}: ${unfit.join(', ')}`
}

/** The template at a place, or the nearest one around it. */
function findEntry(template: Template, [key, ...keys]: readonly string[]): Template {
  const [, entry] = template.entries?.find(([name]) => name === key) ?? []
  return entry === undefined ? template : findEntry(entry, keys)
}

/** Placeholders in one message. */
const maxNamed = 3

function findFault(type: string, config: unknown): { keys: string[]; message: string } | undefined {
  const check = checks.get(type)
  if (!check) return { keys: [], message: `${type} is not an action type` }
  if (!check.schema.Check(config)) {
    const [error] = check.schema.Errors(config)
    const keys = (error?.instancePath ?? '').split('/').slice(1).map(readPointer)
    const message = `${['config', ...keys].join('.')} ${plainBounds(error?.message ?? 'does not fit')}`
    return { keys, message }
  }
  const texts = config as Record<string, unknown>
  for (const [key, findFormatFault] of check.formats) {
    const text = texts[key]
    const fault = typeof text === 'string' ? findFormatFault(text) : undefined
    if (fault) return { keys: [key], message: `config.${key} ${fault}` }
  }
  return undefined
}

/** A key of a JSON pointer. */
function readPointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
