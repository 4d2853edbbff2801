import {
  type CompiledRule,
  type Conditions,
  compileRule,
  Judging,
  ruleHolds,
  type WorkLimits,
} from '@automation/engine'

/** A definition, as far as it decides about events. */
export interface Matcher {
  trigger: string
  conditions: Conditions
}

/** JSON: it is stored between two responses. */
export interface Comparison {
  considered: number
  active: number
  draft: number
  same: number
  added: number
  removed: number
  notJudged: number
  examples: { added: string[]; removed: string[] }
}

export interface ToCompare {
  /** null: the draft is compared with nothing. */
  active: Matcher | null
  draft: Matcher
  events: { id: string; type: string; json: string; acceptedAt: number }[]
  limits: WorkLimits
  comparison: Comparison
}

export const nothingCompared: Comparison = {
  considered: 0,
  active: 0,
  draft: 0,
  same: 0,
  added: 0,
  removed: 0,
  notJudged: 0,
  examples: { added: [], removed: [] },
}

const maxExamples = 20
/** Some 500 ms: other workspaces wait for the thread. */
const maxUnits = 20_000_000
const maxMs = 500

/**
 * Judges both definitions for a slice of events, each at the moment of its acceptance, for as long as one turn of the thread may take.
 *
 * @returns the comparison with these events, and how many were used: the rest is for the next call
 */
export function compareEvents({ active, draft, events, limits, comparison }: ToCompare): {
  comparison: Comparison
  used: number
} {
  const [before, after] = [active && compile(active), compile(draft)]
  const startedAt = performance.now()
  const sum = structuredClone(comparison)
  let used = 0
  let units = 0
  for (const { id, type, json, acceptedAt } of events) {
    used++
    const isOfActive = type === active?.trigger
    const isOfDraft = type === draft.trigger
    if (!isOfActive && !isOfDraft) continue
    const data: unknown = JSON.parse(json)
    const judgings = [new Judging(acceptedAt, limits), new Judging(acceptedAt, limits)] as const
    const wasMatched = isOfActive && before !== null && ruleHolds(before, data, judgings[0])
    const isMatched = isOfDraft && ruleHolds(after, data, judgings[1])
    if (judgings.some(({ fault }) => fault !== null)) sum.notJudged++
    count(sum, id, wasMatched, isMatched)
    units += judgings[0].spent + judgings[1].spent
    if (units > maxUnits || performance.now() - startedAt > maxMs) break
  }
  return { comparison: sum, used }
}

function compile({ conditions }: Matcher): CompiledRule {
  return compileRule({ conditions, actions: [] })
}

function count(sum: Comparison, id: string, wasMatched: boolean, isMatched: boolean): void {
  sum.considered++
  if (wasMatched) sum.active++
  if (isMatched) sum.draft++
  if (wasMatched && isMatched) sum.same++
  if (wasMatched === isMatched) return
  const side = isMatched ? 'added' : 'removed'
  sum[side]++
  sum.examples[side] = [id, ...sum.examples[side]].slice(0, maxExamples)
}
