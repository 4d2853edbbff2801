import { newId } from '@automation/database'
import { compilePath, readPath } from '@automation/engine'
import type { NewEvent } from '@automation/ledger'
import { readHeader } from '@automation/webhooks'
import type { EventTypes } from '../../plugins/event-types.js'
import type { IncomingDelivery } from './delivery.js'
import { findMappedType } from './find-mapped-type.js'
import { type Payload, weighForm } from './payload.js'
import type { SignedByProvider } from './verify-provider.js'

/** What a webhook of a provider becomes: WEBHOOK_RECEIVED, and the event to which its type is mapped. */
export async function eventsOfProvider(
  { secret, inUse: { scheme } }: SignedByProvider,
  { workspaceId, provider, headers, body, isForm }: IncomingDelivery,
  receiptId: string,
  { payload, ...warned }: Payload,
  types: EventTypes,
): Promise<NewEvent[]> {
  const { createdBy, settings } = secret
  const bytes = isForm ? weighForm(payload) : body.length
  const event = (type: string, data: object): NewEvent => {
    return { id: newId(), workspaceId, createdBy, type, data, bytes, addressee: null }
  }
  const names = [...scheme.headers, ...(settings?.headers ?? []).map((name) => name.toLowerCase())]
  const shown = names.flatMap((name) => {
    const value = readHeader(headers, [name])
    return value === '' ? [] : [[name, cleanText(value)] as const]
  })
  const readable = shown.length === 0 ? {} : { headers: Object.fromEntries(shown) }
  const received = event('WEBHOOK_RECEIVED', { provider, receiptId, payload, ...readable, ...warned })
  const type = findMappedType(scheme, settings ?? {}, headers, payload)
  const mapped = type && settings?.types?.[type]
  if (mapped === undefined || !(await types.hadLately(workspaceId, mapped))) return [received]
  const data = settings?.dataFrom === undefined ? payload : readPath(compilePath(settings.dataFrom), payload)
  return isObject(data) ? [received, event(mapped, data)] : [received]
}

/** Node reads headers as latin1; they hold no NUL. */
function cleanText(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
