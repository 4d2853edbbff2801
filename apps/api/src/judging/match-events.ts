import { type Conditions, compileRule, Judging, ruleHolds, type WorkLimits } from '@automation/engine'

export interface ToMatch {
  conditions: Conditions
  events: { json: string; acceptedAt: number }[]
  limits: WorkLimits
}

export interface Matched {
  /** Indexes of the events that fulfil the conditions. */
  matched: number[]
  /** How many events were looked at: the rest is for the next call. */
  used: number
  /** Of those, how many needed more work than one rule may take. */
  notJudged: number
}

/** Some 500 ms: other workspaces wait for the thread. */
const maxUnits = 20_000_000
const maxMs = 500

/** Judges conditions for a slice of events, each at the moment of its acceptance, for as long as one turn of the thread may take. */
export function matchEvents({ conditions, events, limits }: ToMatch): Matched {
  const rule = compileRule({ conditions, actions: [] })
  const startedAt = performance.now()
  const result: Matched = { matched: [], used: 0, notJudged: 0 }
  let units = 0
  for (const [index, { json, acceptedAt }] of events.entries()) {
    const judging = new Judging(acceptedAt, limits)
    if (ruleHolds(rule, JSON.parse(json), judging)) result.matched.push(index)
    if (judging.fault !== null) result.notJudged++
    result.used++
    units += judging.spent
    if (units > maxUnits || performance.now() - startedAt > maxMs) break
  }
  return result
}
