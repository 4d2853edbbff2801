import { newId } from '@automation/database'
import { type Effect, maxEmissionDepth } from '@automation/engine'
import type { ActionOf } from '../effects/effect.js'
import type { Execution } from './execution.js'

/** Of one event's data, as JSON: as much as a request may have (BODY_LIMIT). Otherwise each event could hold the last one twice. */
const maxDataBytes = 1_048_576

/** Many actions pass on the event's own data. */
const knownBytes = new WeakMap<object, number>()

/** Notes an event, to be committed with the execution. */
export function emitEvent(
  { record, event, budget, emitted }: Execution,
  { config }: ActionOf<'EMIT_EVENT'>,
): Effect {
  const { workspaceId, depth } = event
  if (depth >= maxEmissionDepth) {
    record.attention = 'event_loop'
    return refuse(
      `The chain of emitted events is ${maxEmissionDepth} long, so this one was not emitted: check the rules for a loop`,
    )
  }
  // The schema accepts a text only where a placeholder makes it an object.
  const data = (config.data ?? event.data) as object
  const bytes = countBytes(data)
  if (bytes > maxDataBytes) return refuse('The event would be larger than 1 MiB')
  const refusal = budget.countEvent(bytes)
  if (refusal?.attention) record.attention = refusal.attention
  if (refusal) return refuse(refusal.error)
  const id = newId()
  emitted.push({
    id,
    workspaceId,
    type: config.eventType,
    data,
    addressee: null,
    depth: depth + 1,
    rootId: event.rootId ?? event.id,
  })
  return { status: 'success', output: { eventId: id } }
}

function refuse(error: string): Effect {
  return { status: 'failed', error, isFinal: true }
}

function countBytes(data: object): number {
  const known = knownBytes.get(data)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(data))
  knownBytes.set(data, bytes)
  return bytes
}
