import {
  compileRule,
  evaluateWhy,
  explainWhy,
  type RuleDefinition,
  type WorkBudget,
  type WorkLimits,
} from '@automation/engine'
import type { ConsideredRule } from '@automation/history'
import { type Bounds, openBudget } from './bounds.js'

export interface ToExplain {
  rules: ConsideredRule[]
  /** JSON of the event's data. */
  data: string
  /** Epoch ms. */
  now: number
  limits: WorkLimits
  limit: number
  /** Positions, in the list of rules, of those that the pages before have explained. */
  explained: number[]
}

/** An event with its moment, and what evaluation it may cost. */
interface Question {
  data: unknown
  now: number
  limits: WorkLimits
  budget: WorkBudget
}

/** A page of this many characters ends, even below its limit. */
const maxPageLength = 2_000_000
/** Rules whose clauses are not known come after those that missed. */
const unknownCount = 1_000
/** What a person has left out comes last. */
const leftOutCount = unknownCount + 1
/** Of the question's budget; the rest is for the page. */
const shareForOrder = 0.5

/**
 * Explains a page of the rules of an event: those that matched, then those that missed by the fewest clauses, then in creation order. A page
 * ends where the budget of the question does, and has one rule at least. Rules that the budget does not reach while they are ordered come
 * last, so that a later page may have a nearer one, but each rule is on one page.
 *
 * @returns the JSON of its items, and the positions of all rules explained so far where there is a next page
 */
export function whyOfEvent({
  rules,
  data: json,
  now,
  limits,
  limit,
  explained,
  bounds,
}: ToExplain & Bounds): {
  items: string
  explained: number[] | undefined
} {
  const question: Question = { data: JSON.parse(json), now, limits, budget: openBudget({ bounds }) }
  const { budget } = question
  const known = new Set(explained)
  const ordered = order(rules, known, question)
  const items: string[] = []
  let length = 0
  for (const position of ordered) {
    if (items.length === limit || length > maxPageLength || (items.length > 0 && budget.isOver)) break
    const item = JSON.stringify(explain(rules[position] as ConsideredRule, question))
    // Its explanation may have ended with the budget: it is the first of the next page.
    if (items.length > 0 && budget.isOver) break
    items.push(item)
    length += item.length
    known.add(position)
  }
  const isLast = items.length === ordered.length
  return { items: `[${items.join(',')}]`, explained: isLast ? undefined : [...known] }
}

/** The positions of the rules that are not explained yet, in the order of the response. */
function order(rules: readonly ConsideredRule[], known: ReadonlySet<number>, question: Question): number[] {
  return [...rules.keys()]
    .filter((position) => !known.has(position))
    .map((position) => ({ position, rank: rankOf(rules[position] as ConsideredRule, question) }))
    .sort((left, right) => left.rank - right.rank || left.position - right.position)
    .map(({ position }) => position)
}

/** How many clauses would have to turn; less for a rule that did not miss. */
function rankOf({ verdict, conditions }: ConsideredRule, { data, now, limits, budget }: Question): number {
  if (verdict === 'left_out') return leftOutCount
  if (verdict !== 'not_matched') return -1
  if (conditions === null || budget.isBeyond(shareForOrder)) return unknownCount
  const sets = attempt(() => {
    const definition = read(conditions)
    return evaluateWhy(definition, compileRule(definition), data, now, limits, budget).sets
  })
  return sets?.[0]?.length ?? unknownCount
}

function explain(
  { ruleId, name, version, verdict, executionId, outrankedBy, suppression, conditions }: ConsideredRule,
  { data, now, limits, budget }: Question,
) {
  const why =
    conditions === null ? null : attempt(() => explainWhy(read(conditions), data, now, limits, budget))
  return {
    ruleId,
    name,
    version,
    verdict,
    executionId,
    outranked: outrankedBy === null ? null : { by: outrankedBy },
    suppressed: suppression,
    decisive: why?.decisive ?? [],
    trace: why?.trace ?? null,
    change: why?.change ?? null,
  }
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
