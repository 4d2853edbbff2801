import type { Evaluation } from '../evaluation.js'
import type { Batch } from './collect.js'
import type { CompiledPerKey } from './compile-key.js'
import { type Decision, decide } from './decide.js'
import type { KeyEvent } from './key-event.js'

/** What is known of a key. Executions begin in the order of their events, so those that wait are later than the holder. */
interface Key<Execution> {
  granted: KeyEvent[]
  counted: KeyEvent[]
  holder: Held<Execution> | undefined
  queue: Held<Execution>[]
  batches: Batch[]
}

interface Held<Execution> extends KeyEvent {
  readonly execution: Execution
}

/** Who asks for a key. */
export interface Asking<Execution> {
  readonly rule: number
  readonly perKey: CompiledPerKey
  readonly event: { readonly at: number; readonly data: object }
  /** How many events came before. */
  readonly position: number
  readonly execution: Execution
}

/** What was decided, with the executions that are replaced, and that of the batch that has the event now. */
export interface SimulatedDecision<Execution> extends Pick<Decision, 'kind' | 'suppression'> {
  readonly replaced: readonly Execution[]
  readonly batch?: { readonly execution: Execution; readonly endsAt: number }
  /** Why the key could not be rendered: then nothing was asked. */
  readonly fault?: string
}

/**
 * What rules remember of their keys, as the service does, for events in the order of their acceptance: the engine decides, and what it decided is
 * remembered here.
 */
export class SimulatedKeys<Execution> {
  readonly #keys = new Map<string, Key<Execution>>()
  readonly #held = new Map<Execution, Key<Execution>>()
  readonly #open = new Map<Execution, { key: Key<Execution>; batch: Batch }>()

  ask(asking: Asking<Execution>, evaluation: Evaluation): SimulatedDecision<Execution> {
    const { rule, perKey, event, position, execution } = asking
    const { key: text, fault } = perKey.render(event.data, evaluation)
    if (fault !== undefined) return { kind: 'run', replaced: [], fault }
    const key = this.#keyOf(rule, text)
    const eventId = String(position).padStart(9, '0')
    const own = { at: event.at, eventId, executionId: `of event ${position + 1}`, execution }
    // All that has begun and has not ended waits: what is done takes no time.
    const holder = key.holder && { ...key.holder, isWaiting: true }
    const state = { ...key, holder, collecting: key.batches.length }
    const decision = decide(perKey, text, state, own)
    const { kind, suppression, consumed, isCounted, batch } = decision
    const replaced = this.#replace(key, decision.replaced)
    const used = new Set(consumed.map((one) => one.eventId))
    key.counted = key.counted.filter(
      (one) => !used.has(one.eventId) && isNear(one, own, perKey.atLeast?.within),
    )
    if (isCounted) key.counted.push(own)
    key.granted = key.granted.filter((one) => isNear(one, own, perKey.atMost?.per))
    if (perKey.whileRunning && kind !== 'suppressed') this.#held.set(execution, key)
    if (batch !== undefined) {
      if (kind === 'wait') this.#openBatch(key, batch, execution)
      const { execution: opener } = batch.openedBy as Held<Execution>
      return {
        kind,
        ...(suppression && { suppression }),
        replaced,
        batch: { execution: opener, endsAt: batch.endsAt },
      }
    }
    if (kind !== 'suppressed') {
      if (perKey.atMost) key.granted.push(own)
      if (kind === 'wait') key.queue.push(own)
      else if (perKey.whileRunning) key.holder = own
    }
    return { kind, ...(suppression && { suppression }), replaced }
  }

  /** Ends an execution. @returns the one that waited for its key, which begins now */
  release(execution: Execution): Execution | undefined {
    const key = this.#held.get(execution)
    if (key === undefined) return undefined
    this.#held.delete(execution)
    key.holder = key.queue.shift()
    return key.holder?.execution
  }

  /** Closes the batch of an execution at its end. @returns whether it begins now; undefined: it has begun, or its batch ends later */
  beginBatch(execution: Execution, at: number): boolean | undefined {
    const { key, batch } = this.#open.get(execution) ?? {}
    if (key === undefined || batch === undefined || batch.endsAt > at) return undefined
    this.#open.delete(execution)
    key.batches = key.batches.filter((one) => one !== batch)
    if (!this.#held.has(execution)) return true
    const own = { ...batch.openedBy, execution }
    if (key.holder === undefined) {
      key.holder = own
      return true
    }
    key.queue.push(own)
    return false
  }

  #openBatch(key: Key<Execution>, batch: Batch, execution: Execution): void {
    key.batches.push(batch)
    this.#open.set(execution, { key, batch })
  }

  #replace(key: Key<Execution>, replaced: readonly KeyEvent[]): Execution[] {
    if (replaced.length === 0) return []
    const places = new Map(
      [...(key.holder ? [key.holder] : []), ...key.queue].map((one) => [one.eventId, one]),
    )
    const ended = replaced.flatMap((one) => places.get(one.eventId)?.execution ?? [])
    for (const one of ended) this.#held.delete(one)
    if (ended.length > 0) Object.assign(key, { holder: undefined, queue: [] })
    return ended
  }

  #keyOf(rule: number, text: string): Key<Execution> {
    const id = `${rule} ${text}`
    const known = this.#keys.get(id)
    if (known) return known
    const key: Key<Execution> = { granted: [], counted: [], holder: undefined, queue: [], batches: [] }
    this.#keys.set(id, key)
    return key
  }
}

function isNear(one: KeyEvent, { at }: KeyEvent, window = 0): boolean {
  return one.at > at - window
}
