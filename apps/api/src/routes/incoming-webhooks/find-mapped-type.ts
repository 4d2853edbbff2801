import { readHeader, type Scheme, type SchemeSettings } from '@automation/webhooks'
import type { IncomingDelivery } from './delivery.js'
import { readText } from './read-text.js'

/**
 * The type of a webhook in the words of its provider, if the settings map it. The type together with its action is looked for first:
 * `issues.opened`, then `issues`.
 */
export function findMappedType(
  { type }: Scheme,
  { types = {} }: SchemeSettings,
  headers: IncomingDelivery['headers'],
  payload: unknown,
): string | undefined {
  const name = readHeader(headers, type.headers) || readText(type.paths, payload)
  if (!name) return undefined
  const action = type.action === undefined ? undefined : readText([type.action], payload)
  return [`${name}.${action}`, name].find((text) => Object.hasOwn(types, text))
}
