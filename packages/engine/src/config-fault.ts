import { Compile } from 'typebox/compile'
import type { ActionDefinition } from './actions/action-definition.js'
import { actionDefinitions } from './actions/index.js'

const checks = new Map(
  actionDefinitions.map((definition: ActionDefinition) => [
    definition.type,
    { schema: Compile(definition.config), formats: Object.entries(definition.formats) },
  ]),
)

/**
 * Describes why a rendered config does not fit its action, such as an empty recipient or a URL without a host.
 * Undefined when it fits.
 */
export function findConfigFault(type: string, config: unknown): string | undefined {
  const check = checks.get(type)
  if (!check) return `${type} is no action type`
  if (!check.schema.Check(config)) {
    const [error] = check.schema.Errors(config)
    return `config${(error?.instancePath ?? '').replaceAll('/', '.')} ${error?.message ?? 'does not fit'}`
  }
  const texts = config as Record<string, unknown>
  for (const [key, findFault] of check.formats) {
    const text = texts[key]
    const fault = typeof text === 'string' ? findFault(text) : undefined
    if (fault) return `config.${key} ${fault}`
  }
  return undefined
}
