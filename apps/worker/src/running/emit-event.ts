import { newId } from '@automation/database'
import type { Effect } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import type { ActionOf } from '../effects/effect.js'
import type { Execution } from './execution.js'

/** Rules that trigger one another would never end: an event that is this many EMIT_EVENT actions away from outside emits none. */
const maxDepth = 10
/** Of one event's data, as JSON: as much as a request may have (BODY_LIMIT). Otherwise each event could hold the last one twice. */
const maxDataBytes = 1_048_576
/** Of all that the rules of one event emit, because one statement commits it. */
const maxEmittedBytes = 16 * maxDataBytes

const emittedBytes = new WeakMap<LoadedEvent, number>()
/** Many actions pass on the event's own data. */
const knownBytes = new WeakMap<object, number>()

/** Notes an event, to be committed with the execution. */
export function emitEvent({ record, event, emitted }: Execution, { config }: ActionOf<'EMIT_EVENT'>): Effect {
  const { workspaceId, depth } = event
  if (depth >= maxDepth) {
    record.attention = 'event_loop'
    return refuse(
      `The chain of emitted events is ${maxDepth} long, so this one was not emitted: check the rules for a loop`,
    )
  }
  // The schema accepts a text only where a placeholder makes it an object.
  const data = (config.data ?? event.data) as object
  const bytes = countBytes(data)
  if (bytes > maxDataBytes) return refuse('The event would be larger than 1 MiB')
  const total = (emittedBytes.get(event) ?? 0) + bytes
  if (total > maxEmittedBytes) return refuse('The rules of one event would emit more than 16 MiB')
  emittedBytes.set(event, total)
  const id = newId()
  emitted.push({ id, workspaceId, type: config.eventType, data, addressee: null, depth: depth + 1 })
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
