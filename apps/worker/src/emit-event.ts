import { newId } from '@automation/database'
import type { Effect } from '@automation/engine'
import type { ActionOf } from './effects/effect.js'
import type { LoadedEvent } from './load-events.js'
import type { Run } from './run.js'

/** Rules that cause one another would go on for ever: an event so many EMIT_EVENT away from one from outside causes none. */
const maxDepth = 10
/** Of one event's data, as JSON: as much as a request brings (BODY_LIMIT). Each event could otherwise hold the last one twice. */
const maxDataBytes = 1_048_576
/** Of all that the rules of one event emit, since they are committed in one statement. */
const maxEmittedBytes = 16 * maxDataBytes

const emittedBytes = new WeakMap<LoadedEvent, number>()
/** Often it is the event's own data that goes on, through many actions. */
const knownBytes = new WeakMap<object, number>()

/** Notes an event, to be committed with the run. */
export function emitEvent(run: Run, { config }: ActionOf<'EMIT_EVENT'>): Effect {
  const { workspaceId, depth } = run.event
  if (depth >= maxDepth) {
    run.attention = 'event_loop'
    return refuse(
      `${maxDepth} events have caused one another, so this one causes none: do the rules go round in a circle?`,
    )
  }
  // The schema lets a text pass only where a placeholder makes it an object.
  const data = (config.data ?? run.event.data) as object
  const bytes = countBytes(data)
  if (bytes > maxDataBytes) return refuse('The event would be larger than 1 MiB')
  const emitted = (emittedBytes.get(run.event) ?? 0) + bytes
  if (emitted > maxEmittedBytes) return refuse('The rules of one event would emit more than 16 MiB')
  emittedBytes.set(run.event, emitted)
  const id = newId()
  run.emitted.push({ id, workspaceId, type: config.eventType, data, ruleId: null, depth: depth + 1 })
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
