import type { TestedDefinition } from '@automation/backtest'
import type { PastEvent } from '../storm/read-history.js'

/** Counts by time of acceptance (epoch ms). */
type PerMs = Map<number, number>

/** A time in which one version of a rule was the one that each event met, and what the ledger holds of it. */
export interface Range {
  workspaceId: string
  ruleId: string
  version: number
  definition: TestedDefinition
  /** Epoch ms; `to` is not included. */
  from: number
  to: number
  /** All events of the workspace. */
  scanned: number
  /** Of the trigger, for this rule. */
  considered: number
  /** The events that it matched, also those for which another rule of its group ran. */
  matched: PerMs
  /** The executions, by the time of their event. */
  runs: PerMs
  /** No other version, and no time without the rule, was between the first and the last event of the trigger. */
  isWhole: boolean
}

interface Version {
  workspaceId: string
  ruleId: string
  version: number
  definition: TestedDefinition
  considered: PerMs
  matched: PerMs
  runs: PerMs
}

/** Finds for each version of a rule the longest time in which no event met another one: what a backtest of that time must name is in the ledger. */
export class Ranges {
  readonly #scanned = new Map<string, PerMs>()
  /** By workspace and type: those that are for all rules. */
  readonly #common = new Map<string, PerMs>()
  /** By rule and type: those that are for one rule. */
  readonly #addressed = new Map<string, PerMs>()
  readonly #versions = new Map<string, Version>()
  readonly #present: ReadonlySet<string>

  /** @param present the rules that exist: a backtest cannot name a deleted one, and what was addressed to it does not count then */
  constructor(present: ReadonlySet<string>) {
    this.#present = present
  }

  add(events: PastEvent[]): void {
    for (const { workspaceId, type, addresseeId: addressee, considered, ...event } of events) {
      const at = event.acceptedAt.getTime()
      count(this.#scanned, workspaceId, at)
      if (addressee !== null && !this.#present.has(addressee)) continue
      if (addressee === null) count(this.#common, `${workspaceId} ${type}`, at)
      else count(this.#addressed, `${addressee} ${type}`, at)
      for (const { ruleId, version, definition, hasRun, isOutranked } of considered) {
        // A trigger may change between the acceptance of an event for one rule and its evaluation.
        if (version === undefined || definition?.trigger !== type) continue
        const key = `${ruleId} ${version}`
        const known = this.#versions.get(key)
        const found = known ?? {
          workspaceId,
          ruleId,
          version,
          definition,
          considered: new Map(),
          matched: new Map(),
          runs: new Map(),
        }
        if (known === undefined) this.#versions.set(key, found)
        countOne(found.considered, at)
        if (hasRun || isOutranked) countOne(found.matched, at)
        if (hasRun) countOne(found.runs, at)
      }
    }
  }

  list(): Range[] {
    return [...this.#versions.values()].flatMap((version) => this.#findLongest(version) ?? [])
  }

  #findLongest(version: Version): Range | undefined {
    const { workspaceId, ruleId, definition, considered, matched, runs } = version
    const common = this.#common.get(`${workspaceId} ${definition.trigger}`) ?? new Map<number, number>()
    const addressed = this.#addressed.get(`${ruleId} ${definition.trigger}`) ?? new Map<number, number>()
    const times = [...new Set([...common.keys(), ...addressed.keys()])].sort((one, other) => one - other)
    let best = { start: 0, end: 0 }
    for (let start = 0, end = 0; end < times.length; end++) {
      const at = times[end] as number
      const isPure = considered.get(at) === (common.get(at) ?? 0) + (addressed.get(at) ?? 0)
      if (!isPure) start = end + 1
      else if (end + 1 - start > best.end - best.start) best = { start, end: end + 1 }
    }
    const [first, last] = [times[best.start], times[best.end - 1]]
    if (first === undefined || last === undefined) return undefined
    const within = (counts: PerMs) => new Map([...counts].filter(([at]) => at >= first && at <= last))
    return {
      ...version,
      from: first,
      to: last + 1,
      scanned: sum(within(this.#scanned.get(workspaceId) ?? new Map())),
      considered: sum(within(considered)),
      matched: within(matched),
      runs: within(runs),
      isWhole: best.end - best.start === times.length,
    }
  }
}

export function sum(counts: PerMs): number {
  return [...counts.values()].reduce((total, one) => total + one, 0)
}

function count(all: Map<string, PerMs>, key: string, at: number): void {
  const counts = all.get(key) ?? new Map<number, number>()
  countOne(counts, at)
  all.set(key, counts)
}

function countOne(counts: PerMs, at: number): void {
  counts.set(at, (counts.get(at) ?? 0) + 1)
}
