import {
  type CompiledPerKey,
  type Decision,
  decide,
  type Evaluation,
  type KeyEvent,
} from '@automation/engine'

/** What is known of a key. Executions begin in the order of their events, so those that wait are later than the holder. */
interface Key<Execution> {
  granted: KeyEvent[]
  counted: KeyEvent[]
  holder: Held<Execution> | undefined
  queue: Held<Execution>[]
}

interface Held<Execution> extends KeyEvent {
  readonly execution: Execution
}

/** Who asks for a key. */
interface Asking<Execution> {
  readonly rule: number
  readonly perKey: CompiledPerKey
  readonly event: { readonly at: number; readonly data: object }
  /** How many events came before. */
  readonly position: number
  readonly execution: Execution
}

/** What rules remember of their keys, as the service does: the engine decides, and what it decided is remembered here. */
export class SimulatedKeys<Execution> {
  readonly #keys = new Map<string, Key<Execution>>()
  readonly #held = new Map<Execution, Key<Execution>>()

  /** @returns also the executions that are replaced */
  ask(
    { rule, perKey, event, position, execution }: Asking<Execution>,
    evaluation: Evaluation,
  ): Pick<Decision, 'kind' | 'suppression'> & { replaced: Execution[] } {
    const { key: text } = perKey.render(event.data, evaluation)
    const key = this.#keyOf(rule, text)
    const eventId = String(position).padStart(9, '0')
    const own = { at: event.at, eventId, executionId: `of event ${position + 1}`, execution }
    // All that has begun and has not ended waits: what is done takes no time.
    const state = { ...key, holder: key.holder && { ...key.holder, isWaiting: true } }
    const { kind, suppression, replaced, consumed, isCounted } = decide(perKey, text, state, own)
    const places = new Map(
      [...(key.holder ? [key.holder] : []), ...key.queue].map((one) => [one.eventId, one]),
    )
    const ended = replaced.flatMap((one) => places.get(one.eventId)?.execution ?? [])
    for (const one of ended) this.#held.delete(one)
    if (ended.length > 0) Object.assign(key, { holder: undefined, queue: [] })
    const used = new Set(consumed.map((one) => one.eventId))
    key.counted = key.counted.filter(
      (one) => !used.has(one.eventId) && isNear(one, own, perKey.atLeast?.within),
    )
    if (isCounted) key.counted.push(own)
    key.granted = key.granted.filter((one) => isNear(one, own, perKey.atMost?.per))
    if (kind !== 'suppressed') {
      if (perKey.atMost) key.granted.push(own)
      if (kind === 'wait') key.queue.push(own)
      else if (perKey.whileRunning) key.holder = own
      if (perKey.whileRunning) this.#held.set(execution, key)
    }
    return { kind, ...(suppression && { suppression }), replaced: ended }
  }

  /** Ends an execution. @returns the one that waited for its key, which begins now */
  release(execution: Execution): Execution | undefined {
    const key = this.#held.get(execution)
    if (key === undefined) return undefined
    this.#held.delete(execution)
    key.holder = key.queue.shift()
    return key.holder?.execution
  }

  #keyOf(rule: number, text: string): Key<Execution> {
    const id = `${rule} ${text}`
    const known = this.#keys.get(id)
    if (known) return known
    const key: Key<Execution> = { granted: [], counted: [], holder: undefined, queue: [] }
    this.#keys.set(id, key)
    return key
  }
}

function isNear(one: KeyEvent, { at }: KeyEvent, window = 0): boolean {
  return one.at > at - window
}
