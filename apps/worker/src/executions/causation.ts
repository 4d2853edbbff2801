import { createReadBatcher, type Database } from '@automation/database'
import { findOrigins, type LoadedEvent, type Origin } from '@automation/ledger'
import { LRUCache } from 'lru-cache'

export interface EmissionLimits {
  /** Events that one event from outside may cause, directly or not. */
  descendants: number
  /** Events that the rules of a workspace may emit in a minute, in this worker. */
  perMinute: number
}

/**
 * A list of some hundred items, each an event, is usual; a thousand events of one are nearly always a loop. Ten such trees in a minute are more than
 * one worker commits beside the events of others.
 */
export const defaultEmissionLimits: EmissionLimits = { descendants: 1_000, perMinute: 10_000 }

/** The events that one event from outside has caused. */
interface Tree {
  descendants: number
  /** When Postgres was last asked for their number (ms), and the end of that. */
  countedAt: number
  counted: Promise<unknown>
}

interface Minute {
  startedAt: number
  emitted: number
}

const minuteMs = 60_000
/** How long (ms) the number that Postgres has counted is valid: what other workers emit is known later by as much. */
const validMs = 1_000
/** The trees of events, and the workspaces, that emitted most recently. */
const maxKnown = 10_000

/**
 * Limits what rules that trigger each other can cause: 20 EMIT_EVENT of its own type would make a rule emit 20^10 events. Counts are
 * those of this worker, and of Postgres, once a second, when an event that was emitted begins, and when an execution that may emit is
 * claimed. So with n workers a tree has n times as many events at most.
 */
export class Causation {
  readonly #limits: EmissionLimits
  readonly #findOrigin: (event: Pick<LoadedEvent, 'id' | 'rootId'>) => Promise<Origin>
  /** By the event from outside. */
  readonly #trees = new LRUCache<string, Tree>({ max: maxKnown })
  readonly #minutes = new LRUCache<string, Minute>({ max: maxKnown })

  constructor(database: Database, limits: EmissionLimits = defaultEmissionLimits) {
    this.#limits = limits
    this.#findOrigin = createReadBatcher((events) => findOrigins(database, events, limits.descendants))
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
    const { id } = event
    const tree = this.#treeOf(event)
    const now = performance.now()
    // To count a tree of a thousand events for each of them would be a million rows.
    if (now - tree.countedAt < validMs) {
      const [origin] = await Promise.all([this.#findOrigin({ id, rootId: null }), tree.counted])
      return origin
    }
    tree.countedAt = now
    const counting = this.#findOrigin({ id, rootId: rootOf(event) })
    tree.counted = counting
    // Those that wait for the count fail with it: their jobs come back.
    counting.catch(() => {
      tree.countedAt = Number.NEGATIVE_INFINITY
    })
    const origin = await counting
    tree.descendants = Math.max(tree.descendants, origin.descendants ?? 0)
    return origin
  }

  /** @returns why so many events must not be emitted, undefined where all of them may */
  findRefusal(event: LoadedEvent, count: number): string | undefined {
    const { descendants, perMinute } = this.#limits
    const these = count === 1 ? 'this one was not emitted' : `none of these ${count} was emitted`
    if (this.#treeOf(event).descendants + count > descendants)
      return `One event may cause ${descendants} others, directly or not: ${these}`
    if (this.#minuteOf(event.workspaceId).emitted + count > perMinute)
      return `The rules of a workspace may emit ${perMinute} events a minute: ${these}`
    return undefined
  }

  /** Counts events that are about to be emitted together. @returns why none of them must be, undefined where all of them may */
  countEmissions(event: LoadedEvent, count: number): string | undefined {
    const refusal = this.findRefusal(event, count)
    if (refusal !== undefined) return refusal
    this.#treeOf(event).descendants += count
    this.#minuteOf(event.workspaceId).emitted += count
    return undefined
  }

  /** Takes back emissions that were not stored. The minute, or the tree, may be another one by now. */
  refund(event: LoadedEvent, emissions: number): void {
    if (emissions === 0) return
    const [tree, minute] = [this.#treeOf(event), this.#minuteOf(event.workspaceId)]
    tree.descendants = Math.max(0, tree.descendants - emissions)
    minute.emitted = Math.max(0, minute.emitted - emissions)
  }

  #treeOf(event: LoadedEvent): Tree {
    const root = rootOf(event)
    const known = this.#trees.get(root)
    if (known) return known
    const tree = {
      descendants: 0,
      countedAt: Number.NEGATIVE_INFINITY,
      counted: Promise.resolve() as Promise<unknown>,
    }
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

function rootOf({ id, rootId }: LoadedEvent): string {
  return rootId ?? id
}
