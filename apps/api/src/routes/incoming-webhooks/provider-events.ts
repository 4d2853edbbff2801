import { newId } from '@automation/database'
import { compilePath, readPath } from '@automation/engine'
import type { NewEvent } from '@automation/ledger'
import { readHeader, type Scheme } from '@automation/webhooks'
import type { EventTypes } from '../../plugins/event-types.js'
import type { IncomingDelivery } from './delivery.js'
import type { Payload } from './payload.js'
import { readText } from './read-text.js'
import type { SignedByProvider } from './verify-provider.js'

/** What a webhook of a provider becomes: WEBHOOK_RECEIVED, and the event to which its type is mapped. */
export async function eventsOfProvider(
  { secret, inUse: { scheme } }: SignedByProvider,
  { workspaceId, provider, headers, body }: IncomingDelivery,
  receiptId: string,
  { payload, ...warned }: Payload,
  types: EventTypes,
): Promise<NewEvent[]> {
  const { createdBy, settings } = secret
  const event = (type: string, data: object): NewEvent => {
    return { id: newId(), workspaceId, createdBy, type, data, bytes: body.length, addressee: null }
  }
  const names = [...scheme.headers, ...(settings?.headers ?? []).map((name) => name.toLowerCase())]
  const shown = names.flatMap((name) => {
    const value = readHeader(headers, [name])
    return value === '' ? [] : [[name, cleanText(value)] as const]
  })
  const readable = shown.length === 0 ? {} : { headers: Object.fromEntries(shown) }
  const received = event('WEBHOOK_RECEIVED', { provider, receiptId, payload, ...readable, ...warned })
  const mapped = findType(scheme, settings?.types ?? {}, headers, payload)
  if (mapped === undefined || !(await types.hadLately(workspaceId, mapped))) return [received]
  const data = settings?.dataFrom === undefined ? payload : readPath(compilePath(settings.dataFrom), payload)
  return isObject(data) ? [received, event(mapped, data)] : [received]
}

/** The type together with its action is looked for first: `issues.opened`, then `issues`. */
function findType(
  { type }: Scheme,
  types: Record<string, string>,
  headers: IncomingDelivery['headers'],
  payload: unknown,
): string | undefined {
  const name = readHeader(headers, type.headers) || readText(type.paths, payload)
  if (!name) return undefined
  const action = type.action === undefined ? undefined : readText([type.action], payload)
  return [`${name}.${action}`, name]
    .map((text) => (Object.hasOwn(types, text) ? types[text] : undefined))
    .find(Boolean)
}

/** Node reads headers as latin1; they hold no NUL. */
function cleanText(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
