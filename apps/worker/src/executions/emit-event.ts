import { newId } from '@automation/database'
import { type Effect, maxEmissionDepth } from '@automation/engine'
import type { ActionOf } from '../effects/effect.js'
import type { EffectRefusal } from './effect-budget.js'
import type { Execution } from './execution.js'

/** What an execution emits shares a job, which costs as much as running an event, up to so many bytes: a worker loads them together. */
const sharedBytes = 1_048_576
/** Many actions pass on the event's own data. */
const knownBytes = new WeakMap<object, number>()

/** Notes an event, to be committed with the execution. Its data is written as JSON only where there may be room for it. */
export function emitEvent(execution: Execution, { of, config, size }: ActionOf<'EMIT_EVENT'>): Effect {
  const { event, budget, emitted } = execution
  const { workspaceId, createdBy, depth } = event
  if (depth >= maxEmissionDepth)
    return refuse({
      error: `The chain of emitted events is ${maxEmissionDepth} long, so this one was not emitted: check the rules for a loop`,
      attention: 'event_loop',
    })
  // The schema accepts a text only where a placeholder makes it an object.
  const data = (config.data ?? event.data) as object
  const refusal = budget.findRefusal(size) ?? countData(execution, data)
  if (refusal) return refuse(refusal)
  const id = newId()
  emitted.push({
    actionIndex: of.index,
    id,
    workspaceId,
    createdBy,
    type: config.eventType,
    data,
    addressee: null,
    depth: depth + 1,
    rootId: event.rootId ?? event.id,
    jobId: execution.effectBytes <= sharedBytes ? (emitted[0]?.jobId ?? id) : id,
  })
  return { status: 'success', output: { eventId: id } }
}

/** The execution may pause before it ends: until then, its results keep what needs attention (findAttention). */
function refuse({ error, attention }: EffectRefusal): Effect {
  return { status: 'failed', error, isFinal: true, ...(attention && { output: { attention } }) }
}

function countData(execution: Execution, data: object): EffectRefusal | undefined {
  const bytes = countBytes(data)
  const refusal = execution.budget.countEvent(bytes)
  if (refusal === undefined) execution.effectBytes += bytes
  return refusal
}

function countBytes(data: object): number {
  const known = knownBytes.get(data)
  if (known !== undefined) return known
  const bytes = Buffer.byteLength(JSON.stringify(data))
  knownBytes.set(data, bytes)
  return bytes
}
