import { createBatcher, type Database } from '@automation/database'
import { findOrigins, type LoadedEvent, type Origin } from '@automation/ledger'
import { LRUCache } from 'lru-cache'

export interface EmissionLimits {
  /** Events that one event from outside may cause, directly or not. */
  descendants: number
  /** Events that the rules of a workspace may emit in a minute, in this worker. */
  perMinute: number
}

export const defaultEmissionLimits: EmissionLimits = { descendants: 1_000, perMinute: 10_000 }

interface Minute {
  startedAt: number
  emitted: number
}

const minuteMs = 60_000
/** The trees of events, and the workspaces, that emitted most recently. */
const maxKnown = 10_000

/**
 * Limits what rules that trigger each other can cause: 20 EMIT_EVENT of its own type would make a rule emit 20^10 events. Counts are
 * those of this worker, and of Postgres when an event that was emitted begins, and when an execution that may emit is claimed. So
 * with n workers a tree has n times as many events at most.
 */
export class Causation {
  readonly #limits: EmissionLimits
  readonly #findOrigin: (event: LoadedEvent) => Promise<Origin>
  /** Descendants, by the event from outside. */
  readonly #trees = new LRUCache<string, { descendants: number }>({ max: maxKnown })
  readonly #minutes = new LRUCache<string, Minute>({ max: maxKnown })

  constructor(database: Database, limits: EmissionLimits = defaultEmissionLimits) {
    this.#limits = limits
    this.#findOrigin = createBatcher((events) => findOrigins(database, events, limits.descendants))
  }

  /**
   * Looks up what led to an event that was emitted.
   *
   * @returns whether the rule that emitted it has been switched off or deleted since
   */
  async isCauseOff(event: LoadedEvent): Promise<boolean> {
    const { isCauseOff } = await this.countStored(event)
    return isCauseOff
  }

  /** Counts what the event from outside has caused already, as far as Postgres knows. */
  async countStored(event: LoadedEvent): Promise<Origin> {
    const origin = await this.#findOrigin(event)
    const tree = this.#treeOf(event)
    tree.descendants = Math.max(tree.descendants, origin.descendants)
    return origin
  }

  /** Counts an event that is about to be emitted. @returns why it must not be, undefined where it may */
  countEmission(event: LoadedEvent): string | undefined {
    const tree = this.#treeOf(event)
    const { descendants, perMinute } = this.#limits
    if (tree.descendants >= descendants)
      return `One event may cause ${descendants} others, directly or not (EVENT_DESCENDANTS): this one was not emitted`
    const minute = this.#minuteOf(event.workspaceId)
    if (minute.emitted >= perMinute)
      return `The rules of a workspace may emit ${perMinute} events a minute (EMITTED_PER_MINUTE): this one was not emitted`
    tree.descendants++
    minute.emitted++
    return undefined
  }

  /** Takes back emissions that were not stored. */
  refund(event: LoadedEvent, emissions: number): void {
    if (emissions === 0) return
    this.#treeOf(event).descendants -= emissions
    this.#minuteOf(event.workspaceId).emitted -= emissions
  }

  #treeOf({ id, rootId }: LoadedEvent): { descendants: number } {
    const root = rootId ?? id
    const tree = this.#trees.get(root) ?? { descendants: 0 }
    this.#trees.set(root, tree)
    return tree
  }

  #minuteOf(workspaceId: string): Minute {
    const now = performance.now()
    const known = this.#minutes.get(workspaceId)
    if (known && now - known.startedAt < minuteMs) return known
    const minute = { startedAt: now, emitted: 0 }
    this.#minutes.set(workspaceId, minute)
    return minute
  }
}
