import { type CompiledPerKey, type Evaluation, type SavedKeys, SimulatedKeys } from '@automation/engine'
import { Ends, type SavedEnds } from './ends.js'
import { hashOf } from './hash-of.js'
import type { Ended, TestedEvent } from './tested-event.js'

/** How many keys of a definition are remembered, each with its events and executions. With executions that wait and end, they take up to 2 MB. */
export const maxRemembered = 20_000

/** How long an execution holds its key. */
export interface Holding {
  /** As it is recorded; undefined: there is no such execution. */
  ended?: Ended
  /** From its start on, as far as its actions tell. */
  ms: number
}

export interface SavedRuleKeys {
  keys: SavedKeys<number>
  ends: SavedEnds
  waiting: [execution: number, Holding][]
  asked: number
  countedFrom: number | null
}

export interface Answer {
  verdict: 'matched' | 'suppressed' | 'not_judged'
  /** How many of the counted executions this one replaces. */
  replaced: number
}

/** What `perKey` of one definition grants to events in the order of their acceptance. Executions are numbers: how many asked before. */
export class RuleKeys {
  readonly #perKey: CompiledPerKey
  readonly #keys: SimulatedKeys<number>
  readonly #ends: Ends
  /** Of those that wait for their key. */
  readonly #waiting: Map<number, Holding>
  #asked: number
  /** The first execution that is counted; null: none is. */
  #countedFrom: number | null

  constructor(perKey: CompiledPerKey, saved?: SavedRuleKeys) {
    // A key may be as long as the event.
    const render: CompiledPerKey['render'] = (data, evaluation) => {
      const rendered = perKey.render(data, evaluation)
      return { ...rendered, key: hashOf(rendered.key).toString(36) }
    }
    this.#perKey = { ...perKey, render }
    this.#keys = new SimulatedKeys(maxRemembered, saved?.keys)
    this.#ends = new Ends(maxRemembered, saved?.ends)
    this.#waiting = new Map(saved?.waiting)
    this.#asked = saved?.asked ?? 0
    this.#countedFrom = saved?.countedFrom ?? null
  }

  get forgotten(): number {
    return this.#keys.forgotten
  }

  /** @param isCounted whether its event is in the range: those before it come first */
  ask(
    { acceptedAt: at, data }: TestedEvent,
    evaluation: Evaluation,
    findHolding: () => Holding,
    isCounted: boolean,
  ): Answer {
    this.#advance(at)
    const execution = this.#asked++
    if (isCounted) this.#countedFrom ??= execution
    const asking = {
      rule: 0,
      perKey: this.#perKey,
      event: { at, data: data as object },
      position: execution,
      execution,
    }
    const { kind, replaced, batch, fault } = this.#keys.ask(asking, evaluation)
    if (fault !== undefined) return { verdict: 'not_judged', replaced: 0 }
    for (const one of replaced) {
      this.#ends.remove(one)
      this.#waiting.delete(one)
    }
    if (batch) this.#ends.set(batch.execution, batch.endsAt)
    if (this.#isExclusive && kind === 'wait') this.#wait(execution, findHolding())
    if (this.#isExclusive && kind === 'run') this.#begin(execution, at, findHolding())
    return {
      verdict: kind === 'suppressed' ? 'suppressed' : 'matched',
      replaced: replaced.filter((one) => this.#countedFrom !== null && one >= this.#countedFrom).length,
    }
  }

  get #isExclusive(): boolean {
    return this.#perKey.whileRunning !== undefined
  }

  save(): SavedRuleKeys {
    return {
      keys: this.#keys.save(),
      ends: this.#ends.save(),
      waiting: [...this.#waiting],
      asked: this.#asked,
      countedFrom: this.#countedFrom,
    }
  }

  /** An event that is accepted at the end of an execution still meets it. */
  #advance(moment: number): void {
    for (let next = this.#ends.takeBefore(moment); next; next = this.#ends.takeBefore(moment)) {
      const { at, execution } = next
      const begins = this.#keys.beginBatch(execution, at)
      const begun = begins === undefined ? this.#keys.release(execution) : begins ? execution : undefined
      if (begun !== undefined && this.#isExclusive)
        this.#begin(begun, at, this.#waiting.get(begun) ?? { ms: 0 })
    }
  }

  /** One that had not ended when it was read holds its key until then, and for as long as its actions tell: a comparison goes on long after. */
  #begin(execution: number, at: number, { ended, ms }: Holding): void {
    this.#waiting.delete(execution)
    const isKnown = ended !== undefined && 'at' in ended
    this.#ends.set(execution, isKnown ? Math.max(at, ended.at) : Math.max(at + ms, ended?.after ?? at))
  }

  /** Those of keys that were forgotten go first. */
  #wait(execution: number, holding: Holding): void {
    this.#waiting.set(execution, holding)
    const [first] = this.#waiting.keys()
    if (this.#waiting.size > maxRemembered && first !== undefined) this.#waiting.delete(first)
  }
}
