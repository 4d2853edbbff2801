import { Compile } from 'typebox/compile'
import type { ActionDefinition } from './actions/action-definition.js'
import { actionDefinitions } from './actions/index.js'
import { plainBounds } from './plain-bounds.js'
import { describeEmpty, type Template } from './template.js'

const checks = new Map(
  actionDefinitions.map((definition: ActionDefinition) => [
    definition.type,
    { schema: Compile(definition.config), formats: Object.entries(definition.formats) },
  ]),
)

/**
 * Describes why a rendered config does not fit its action, such as an empty recipient or a URL without a host, and which placeholders
 * of that field have no value: `config.to must have at least 1 character: {{email}} is missing`. Undefined when it fits.
 */
export function findConfigFault(
  type: string,
  config: unknown,
  template?: Template,
  data?: unknown,
): string | undefined {
  const found = findFault(type, config)
  if (found === undefined) return undefined
  const [, field] = template?.entries?.find(([key]) => key === found.key) ?? []
  const empty = field ? describeEmpty(field, data).slice(0, maxNamed) : []
  return empty.length === 0 ? found.message : `${found.message}: ${empty.join(', ')}`
}

/** Placeholders in one message. */
const maxNamed = 3

function findFault(type: string, config: unknown): { key: string; message: string } | undefined {
  const check = checks.get(type)
  if (!check) return { key: '', message: `${type} is no action type` }
  if (!check.schema.Check(config)) {
    const [error] = check.schema.Errors(config)
    const path = error?.instancePath ?? ''
    const message = `config${path.replaceAll('/', '.')} ${plainBounds(error?.message ?? 'does not fit')}`
    return { key: path.split('/')[1] ?? '', message }
  }
  const texts = config as Record<string, unknown>
  for (const [key, findFormatFault] of check.formats) {
    const text = texts[key]
    const fault = typeof text === 'string' ? findFormatFault(text) : undefined
    if (fault) return { key, message: `config.${key} ${fault}` }
  }
  return undefined
}
