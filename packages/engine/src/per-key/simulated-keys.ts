import type { Evaluation } from '../work/evaluation.js'
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
  batches: HeldBatch<Execution>[]
  isExclusive: boolean
  /** When its windows are over (epoch ms). */
  until: number
  /** What it counts towards the limit. */
  size: number
}

interface Held<Execution> extends KeyEvent {
  readonly execution: Execution
}

interface HeldBatch<Execution> extends Batch {
  readonly openedBy: Held<Execution>
}

/** The state of SimulatedKeys as JSON, if its executions are JSON. */
export interface SavedKeys<Execution> {
  keys: SavedKey<Execution>[]
  forgotten: number
}

type SavedEvent = [at: number, position: number]
type SavedHeld<Execution> = [...SavedEvent, Execution]
type SavedBatch<Execution> = [...SavedHeld<Execution>, size: number, lastAt: number, endsAt: number]
type SavedKey<Execution> = [
  id: string,
  until: number,
  isExclusive: boolean,
  granted: SavedEvent[],
  counted: SavedEvent[],
  /** The holder, if there is one, and those that wait. */
  held: SavedHeld<Execution>[],
  batches: SavedBatch<Execution>[],
]

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
 * remembered here. Beyond a limit the keys that were asked for longest ago are forgotten.
 */
export class SimulatedKeys<Execution> {
  readonly #limit: number
  /** Those that were asked for longest ago come first. */
  readonly #keys = new Map<string, Key<Execution>>()
  readonly #held = new Map<Execution, Key<Execution>>()
  readonly #open = new Map<Execution, { key: Key<Execution>; batch: HeldBatch<Execution> }>()
  #size = 0
  #forgotten = 0

  /** @param limit how many keys, with their events and executions, are remembered */
  constructor(limit = Number.POSITIVE_INFINITY, saved?: SavedKeys<Execution>) {
    this.#limit = limit
    this.#forgotten = saved?.forgotten ?? 0
    for (const [id, ...parts] of saved?.keys ?? []) this.#restore(id, restoreKey(parts))
  }

  /** How many keys the limit has cost. */
  get forgotten(): number {
    return this.#forgotten
  }

  ask(asking: Asking<Execution>, evaluation: Evaluation): SimulatedDecision<Execution> {
    const { rule, perKey, event, position, execution } = asking
    const { key: text, fault } = perKey.render(event.data, evaluation)
    if (fault !== undefined) return { kind: 'run', replaced: [], fault }
    this.#forgetOver(event.at)
    const key = this.#touch(`${rule} ${text}`)
    const own = { ...keyEventOf(event.at, position), execution }
    // All that has begun and has not ended waits: what is done takes no time.
    const holder = key.holder && { ...key.holder, isWaiting: true }
    const decision = decide(perKey, text, { ...key, holder, collecting: key.batches.length }, own)
    const { kind, suppression, batch } = decision
    const replaced = this.#replace(key, decision.replaced)
    this.#note(key, perKey, own, decision)
    this.#measure(key)
    this.#forgetOldest(key)
    return {
      kind,
      ...(suppression && { suppression }),
      replaced,
      ...(batch && {
        batch: { execution: (batch as HeldBatch<Execution>).openedBy.execution, endsAt: batch.endsAt },
      }),
    }
  }

  /** Ends an execution. @returns the one that waited for its key, which begins now */
  release(execution: Execution): Execution | undefined {
    const key = this.#held.get(execution)
    if (key === undefined) return undefined
    this.#held.delete(execution)
    key.holder = key.queue.shift()
    this.#measure(key)
    return key.holder?.execution
  }

  /** Closes the batch of an execution at its end. @returns whether it begins now; undefined: it has begun, or its batch ends later */
  beginBatch(execution: Execution, at: number): boolean | undefined {
    const { key, batch } = this.#open.get(execution) ?? {}
    if (key === undefined || batch === undefined || batch.endsAt > at) return undefined
    this.#open.delete(execution)
    key.batches = key.batches.filter((one) => one !== batch)
    const isFree = key.holder === undefined
    if (key.isExclusive) this.#hold(key, batch.openedBy)
    this.#measure(key)
    return isFree || !key.isExclusive
  }

  save(): SavedKeys<Execution> {
    return { keys: Array.from(this.#keys, ([id, key]) => [id, ...saveKey(key)]), forgotten: this.#forgotten }
  }

  #note(
    key: Key<Execution>,
    { atLeast, atMost, whileRunning }: CompiledPerKey,
    own: Held<Execution>,
    { kind, batch, consumed, isCounted }: Decision,
  ): void {
    const used = new Set(consumed.map(({ eventId }) => eventId))
    key.isExclusive = whileRunning !== undefined
    key.until = Math.max(key.until, own.at + Math.max(atLeast?.within ?? 0, atMost?.per ?? 0))
    key.counted = key.counted.filter((one) => !used.has(one.eventId) && isNear(one, own, atLeast?.within))
    key.granted = key.granted.filter((one) => isNear(one, own, atMost?.per))
    if (isCounted) key.counted.push(own)
    if (kind === 'suppressed') return
    if (batch !== undefined) {
      // It was opened by this event.
      key.batches.push(batch as HeldBatch<Execution>)
      this.#open.set(own.execution, { key, batch: batch as HeldBatch<Execution> })
      return
    }
    if (atMost) key.granted.push(own)
    if (key.isExclusive) this.#hold(key, own)
  }

  #hold(key: Key<Execution>, own: Held<Execution>): void {
    this.#held.set(own.execution, key)
    if (key.holder === undefined) key.holder = own
    else key.queue.push(own)
  }

  #replace(key: Key<Execution>, replaced: readonly KeyEvent[]): Execution[] {
    if (replaced.length === 0) return []
    const ended = listHeld(key).map(({ execution }) => execution)
    for (const one of ended) this.#held.delete(one)
    Object.assign(key, { holder: undefined, queue: [] })
    return ended
  }

  #touch(id: string): Key<Execution> {
    const key = this.#keys.get(id) ?? newKey()
    this.#keys.delete(id)
    this.#keys.set(id, key)
    return key
  }

  /** Each event adds one key at most. Of those that were asked for longest ago it looks at two, so that no event pays for all. */
  #forgetOver(at: number): void {
    let looked = 0
    for (const [id, key] of this.#keys) {
      if (looked++ === 2 || key.until > at) return
      this.#keys.delete(id)
      if (key.holder || key.batches.length > 0) this.#keys.set(id, key)
      else this.#size -= key.size
    }
  }

  #forgetOldest(present: Key<Execution>): void {
    for (const [id, key] of this.#keys) {
      if (this.#size <= this.#limit || key === present) return
      for (const { execution } of listHeld(key)) this.#held.delete(execution)
      for (const { openedBy } of key.batches) this.#open.delete(openedBy.execution)
      this.#keys.delete(id)
      this.#size -= key.size
      this.#forgotten++
    }
  }

  #measure(key: Key<Execution>): void {
    const { granted, counted, batches } = key
    const size = 1 + granted.length + counted.length + listHeld(key).length + batches.length
    this.#size += size - key.size
    key.size = size
  }

  #restore(id: string, key: Key<Execution>): void {
    this.#keys.set(id, key)
    for (const { execution } of listHeld(key)) this.#held.set(execution, key)
    for (const batch of key.batches) this.#open.set(batch.openedBy.execution, { key, batch })
    this.#measure(key)
  }
}

function newKey<Execution>(): Key<Execution> {
  return {
    granted: [],
    counted: [],
    holder: undefined,
    queue: [],
    batches: [],
    isExclusive: false,
    until: 0,
    size: 0,
  }
}

function listHeld<Execution>({ holder, queue }: Key<Execution>): Held<Execution>[] {
  return holder ? [holder, ...queue] : queue
}

function keyEventOf(at: number, position: number): KeyEvent {
  return { at, eventId: String(position).padStart(9, '0'), executionId: `of event ${position + 1}` }
}

function isNear(one: KeyEvent, { at }: KeyEvent, window = 0): boolean {
  return one.at > at - window
}

type SavedParts<Execution> = SavedKey<Execution> extends [string, ...infer Parts] ? Parts : never

function saveKey<Execution>(key: Key<Execution>): SavedParts<Execution> {
  const { until, isExclusive, granted, counted, batches } = key
  const saveEvent = ({ at, eventId }: KeyEvent): SavedEvent => [at, Number(eventId)]
  const saveHeld = (held: Held<Execution>): SavedHeld<Execution> => [...saveEvent(held), held.execution]
  return [
    until,
    isExclusive,
    granted.map(saveEvent),
    counted.map(saveEvent),
    listHeld(key).map(saveHeld),
    batches.map(({ openedBy, size, lastAt, endsAt }) => [...saveHeld(openedBy), size, lastAt, endsAt]),
  ]
}

function restoreKey<Execution>([
  until,
  isExclusive,
  granted,
  counted,
  held,
  batches,
]: SavedParts<Execution>): Key<Execution> {
  const restoreHeld = ([at, position, execution]: SavedHeld<Execution>) => ({
    ...keyEventOf(at, position),
    execution,
  })
  const [holder, ...queue] = held.map(restoreHeld)
  return {
    granted: granted.map((one) => keyEventOf(...one)),
    counted: counted.map((one) => keyEventOf(...one)),
    holder,
    queue,
    batches: batches.map(([at, position, execution, size, lastAt, endsAt]) => ({
      openedBy: restoreHeld([at, position, execution]),
      size,
      lastAt,
      endsAt,
    })),
    isExclusive,
    until,
    size: 0,
  }
}
