import { newId } from '@automation/database'
import { compilePath, isEventTypeName, readPath } from '@automation/engine'
import type { NewEvent } from '@automation/ledger'
import { payloadPath, readHeader } from '@automation/webhooks'
import type { EventTypes } from '../../plugins/event-types.js'
import type { IncomingDelivery } from './delivery.js'
import { findMappedType } from './find-mapped-type.js'
import { type Payload, weighForm } from './payload.js'
import { readText } from './read-text.js'
import type { SignedDelivery } from './verify-delivery.js'

/**
 * What a delivery becomes: WEBHOOK_RECEIVED, and the event that it names, or to which its type is mapped. A warning of the payload says why a mapped
 * type became none.
 */
export async function eventsOfDelivery(
  { secret, inUse: { scheme } }: Pick<SignedDelivery, 'secret' | 'inUse'>,
  { workspaceId, provider, headers, body, isForm }: IncomingDelivery,
  receiptId: string,
  { payload, warnings = [] }: Payload,
  types: EventTypes,
): Promise<{ events: NewEvent[]; payload: Payload }> {
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
  const namesOurs = scheme.type.dataFrom !== undefined
  const { types: map = {}, dataFrom = scheme.type.dataFrom } = settings ?? {}
  const type = findMappedType(scheme, { types: map }, headers, payload)
  const mapped = namesOurs ? readOurType(readText(scheme.type.paths, payload)) : type && map[type]
  const data = dataFrom === undefined ? payload : readPath(compilePath(payloadPath(dataFrom)), payload)
  const isKnown = mapped !== undefined && (await types.hadLately(workspaceId, mapped))
  const none = (field: string, message: string) => [{ field, message: `No event ${mapped}: ${message}` }]
  const missing =
    mapped === undefined || namesOurs
      ? []
      : !isKnown
        ? none(`settings.types.${type}`, 'the workspace has no such type')
        : isObject(data)
          ? []
          : none('settings.dataFrom', `the payload has no object at ${dataFrom ?? 'its root'}`)
  const warned = [...warnings, ...missing]
  const all = { payload, ...(warned.length > 0 && { warnings: warned }) }
  const received = event('WEBHOOK_RECEIVED', { provider, receiptId, ...readable, ...all })
  const events = isKnown && isObject(data) ? [received, event(mapped, data)] : [received]
  return { events, payload: all }
}

function readOurType(text = ''): string | undefined {
  const name = text.toUpperCase().replaceAll('.', '_')
  return isEventTypeName(name) && name !== 'WEBHOOK_RECEIVED' ? name : undefined
}

/** Node reads headers as latin1; they hold no NUL. */
function cleanText(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
