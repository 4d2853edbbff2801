import { compileRule, explainWhy, judgeWhy, type RuleDefinition, type WorkLimits } from '@automation/engine'
import type { ConsideredRule } from '@automation/ledger'

/** Where the next page of rules begins: after the rule of this rank. */
export type Rank = readonly [group: number, decisive: number, position: number]

export interface ToExplain {
  rules: ConsideredRule[]
  /** JSON of the event's data. */
  data: string
  /** Epoch ms. */
  now: number
  limits: WorkLimits
  limit: number
  after: Rank | undefined
}

/** A page of this many characters ends, even below its limit. */
const maxPageLength = 2_000_000
/** Rules whose clauses are not known come last. */
const unknownCount = 1_000

/**
 * Explains a page of the rules of an event: those that matched, then those that missed by the fewest clauses, then in creation order.
 *
 * @returns the JSON of its items, and the rank of the last one where there is a next page
 */
export function whyOfEvent({ rules, data: json, now, limits, limit, after }: ToExplain): {
  items: string
  end: Rank | undefined
} {
  const data: unknown = JSON.parse(json)
  const ranked = rules
    .map((rule, position) => ({ rule, rank: rankOf(rule, position, data, now, limits) }))
    .sort((left, right) => compareRanks(left.rank, right.rank))
    .filter(({ rank }) => after === undefined || compareRanks(rank, after) > 0)
  const items: string[] = []
  let length = 0
  let end: Rank | undefined
  for (const { rule, rank } of ranked) {
    if (items.length === limit || length > maxPageLength) return { items: `[${items.join(',')}]`, end }
    const item = JSON.stringify(explain(rule, data, now, limits))
    items.push(item)
    length += item.length
    end = rank
  }
  return { items: `[${items.join(',')}]`, end: undefined }
}

function explain(
  { ruleId, name, version, verdict, executionId, conditions }: ConsideredRule,
  data: unknown,
  now: number,
  limits: WorkLimits,
) {
  const why = conditions === null ? null : attempt(() => explainWhy(read(conditions), data, now, limits))
  return {
    ruleId,
    name,
    version,
    verdict,
    executionId,
    decisive: why?.decisive ?? [],
    trace: why?.trace ?? null,
    change: why?.change ?? null,
  }
}

function rankOf(
  { verdict, conditions }: ConsideredRule,
  position: number,
  data: unknown,
  now: number,
  limits: WorkLimits,
): Rank {
  if (verdict !== 'not_matched') return [0, 0, position]
  if (conditions === null) return [1, unknownCount, position]
  const sets = attempt(() => {
    const definition = read(conditions)
    return judgeWhy(definition, compileRule(definition), data, now, limits).sets
  })
  return [1, sets?.[0]?.length ?? unknownCount, position]
}

/** The actions are not explained: they may be large, and are not read. */
function read(conditions: string): RuleDefinition {
  return { conditions: JSON.parse(conditions), actions: [] }
}

/** A definition that does not compile any more did not match; its execution says why it failed. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

function compareRanks(left: Rank, right: Rank): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}
