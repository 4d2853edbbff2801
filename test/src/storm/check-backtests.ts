import { Backtest } from '@automation/backtest'
import type { PastEvent } from './read-history.js'
import { readHistory } from './read-history.js'
import type { Site } from './site.js'

/** What was compared, and the differences. */
export interface Comparison {
  /** The pairs of an event and a rule that was considered for it. */
  compared: number
  /** One sentence each; a comparison of nothing is one, too. */
  violations: string[]
}

/**
 * Whether a backtest of each version names exactly the events that have an execution, among those for which it was considered: the version is
 * that of the rule's last state at the event's `rulesVersion`.
 */
export async function checkBacktests({
  query,
  workspaces,
}: Pick<Site, 'query' | 'workspaces'>): Promise<Comparison> {
  const check = new BacktestCheck()
  const ids = workspaces.map(({ id }) => id)
  for await (const events of readHistory(query, ids)) check.add(events)
  return check.finish()
}

export class BacktestCheck {
  readonly #tests = new Map<string, Backtest>()
  readonly #violations: string[] = []
  #compared = 0
  #matched = 0

  add(events: PastEvent[]): void {
    for (const { id, json, type, addresseeId: addressedTo, considered, ...event } of events) {
      if (considered.length === 0) continue
      const acceptedAt = event.acceptedAt.getTime()
      const isTick = event.addresseeKind === 'tick'
      const tested = { id, type, addressedTo, isTick, acceptedAt, data: JSON.parse(json) }
      for (const { ruleId, version, definition, hasRun, isOutranked, isUnevaluated } of considered) {
        const key = `${ruleId} ${version}`
        if (definition === undefined) {
          this.#violations.push(`backtest of ${key}: its version is not known for ${id}`)
          continue
        }
        const backtest = this.#tests.get(key) ?? new Backtest({ ruleId, draft: definition, ...allTime })
        this.#tests.set(key, backtest)
        const draft = backtest.add(tested).draft
        this.#compared++
        if (hasRun) this.#matched++
        if (isUnevaluated ? draft === 'matched' : (draft === 'matched') !== (hasRun || isOutranked))
          this.#violations.push(
            `backtest of ${key}: ${draft} for ${id}, which ${hasRun ? 'ran' : 'did not run'}`,
          )
      }
    }
  }

  finish(): Comparison & { matched: number } {
    const nothing = this.#matched === 0 ? ['backtests: no execution was compared'] : []
    return {
      compared: this.#compared,
      matched: this.#matched,
      violations: [...this.#violations, ...nothing],
    }
  }
}

const allTime = { from: 0, to: 8_000_000_000_000 }
