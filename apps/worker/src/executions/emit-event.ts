import { newId } from '@automation/database'
import { type Effect, maxEmissionDepth } from '@automation/engine'
import type { EmittedEvent } from '@automation/ledger'
import { maxEventsPerJob } from '@automation/queue'
import type { ActionOf } from '../effects/effect.js'
import type { EffectRefusal } from './effect-budget.js'
import type { Execution } from './execution.js'

/** What an execution emits shares a job, which costs as much as running an event, up to so many bytes: a worker loads them together. */
const sharedBytes = 1_048_576
/** Many actions pass on the event's own data. */
const knownBytes = new WeakMap<object, number>()

/**
 * Notes an event, or one for each item of a list, to be committed with the execution: all of them, or none. Their data is written as JSON only
 * where there may be room for it.
 */
export function emitEvent(execution: Execution, action: ActionOf<'EMIT_EVENT'>): Effect {
  const { config, size, events } = action
  const { event, budget } = execution
  if (event.depth >= maxEmissionDepth)
    return refuse({
      error: `The chain of emitted events is ${maxEmissionDepth} long, so this one was not emitted: check the rules for a loop`,
      attention: 'event_loop',
    })
  // The schema accepts a text only where a placeholder makes it an object.
  const all = events?.map(({ data }) => data) ?? [(config.data ?? event.data) as object]
  const refusal = budget.findRefusal(size, all.length)
  if (refusal) return refuse(refusal)
  const sizes = all.map(countBytes)
  const refused = budget.countEvents(sizes)
  if (refused) return refuse(refused)
  const ids = all.map((data, index) => note(execution, action, data, sizes[index] as number))
  if (events === undefined) return { status: 'success', output: { eventId: ids[0] } }
  const range = ids.length === 0 ? {} : { firstEventId: ids[0], lastEventId: ids.at(-1) }
  return { status: 'success', output: { events: ids.length, ...range } }
}

/** @returns the id of the event. It is new for each attempt to commit it, and only one attempt is: with the result of the action. */
function note(
  execution: Execution,
  { of, config }: ActionOf<'EMIT_EVENT'>,
  data: object,
  bytes: number,
): string {
  const { event, emitted } = execution
  const { workspaceId, createdBy, depth } = event
  const id = newId()
  const place = emitted.length
  execution.effectBytes += bytes
  const noted: EmittedEvent = {
    actionIndex: of.index,
    id,
    workspaceId,
    createdBy,
    type: config.eventType,
    data,
    addressee: null,
    depth: depth + 1,
    rootId: event.rootId ?? event.id,
    jobId:
      execution.effectBytes <= sharedBytes ? (emitted[place - (place % maxEventsPerJob)]?.jobId ?? id) : id,
  }
  emitted.push(noted)
  return id
}

/** The execution may pause before it ends: until then, its results keep what needs attention (findAttention). */
function refuse({ error, attention }: EffectRefusal): Effect {
  return { status: 'failed', error, isFinal: true, ...(attention && { output: { attention } }) }
}

function countBytes(data: object): number {
  const known = knownBytes.get(data)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(data))
  knownBytes.set(data, bytes)
  return bytes
}
