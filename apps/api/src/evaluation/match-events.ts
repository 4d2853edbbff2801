import {
  type Conditions,
  compileRule,
  ErasedValue,
  Evaluation,
  ruleHolds,
  type WorkLimits,
} from '@automation/engine'
import { type Bounds, openBudget } from './bounds.js'
import { findWords } from './find-words.js'

export interface ToMatch {
  conditions: Conditions
  /** Which the data has to have, too: see readWords. */
  words: string[]
  /** A value that the data has to have at a path, exactly: see ErasedValue. */
  at?: { path: string; value: string | number } | undefined
  events: { json: string; acceptedAt: number }[]
  limits: WorkLimits
}

export interface Matched {
  /** Indexes of the events that have the words and fulfil the conditions. */
  matched: number[]
  /** How many events were looked at: the rest is for the next call. */
  used: number
  /** Of those, how many needed more work than one rule may take. */
  notJudged: number
}

/** Evaluates conditions for a slice of events, at least one, each at the moment of its acceptance, for as long as one turn of the child process may take. */
export function matchEvents({ conditions, words, at, events, limits, bounds }: ToMatch & Bounds): Matched {
  const budget = openBudget({ bounds })
  const rule = compileRule({ conditions, actions: [] })
  const erased = at && new ErasedValue(at.path, at.value)
  const result: Matched = { matched: [], used: 0, notJudged: 0 }
  for (const [index, { json, acceptedAt }] of events.entries()) {
    const evaluation = new Evaluation(acceptedAt, limits, budget)
    const data = erased?.mayBeIn(json) === false ? undefined : findWords(json, words)
    const isFound = data !== undefined && (erased === undefined || erased.isAt(data))
    const holds = isFound && ruleHolds(rule, data, evaluation)
    // It has the whole of the next turn.
    if (evaluation.overrun === 'question' && index > 0) break
    if (holds) result.matched.push(index)
    if (evaluation.fault !== null) result.notJudged++
    result.used++
    if (budget.isBeyond(0.5)) break
  }
  return result
}
