import {
  type ActionResult,
  aloneIn,
  type CompiledRule,
  compileRule,
  explainRule,
  type Fault,
  findError,
  type Given,
  type Grouped,
  type KeyPreview,
  listChoices,
  type PerKey,
  type PlannedAction,
  planBranch,
  planEvent,
  planRule,
  type RuleDefinition,
  type RulePlanInEvent,
  showKey,
  simulatePlan,
  type Trace,
  type WorkBudget,
  type WorkLimits,
} from '@automation/engine'
import type { RuleResult } from '../acceptance/results.js'
import { type Bounds, findOverrun, maxResponseBytes, type Overrun, openBudget } from './bounds.js'
import { JsonPieces } from './json-pieces.js'

type DryRunDefinition = RuleDefinition & { perKey?: PerKey | null }

export interface ToEvaluate {
  definition: DryRunDefinition
  data: unknown
  /** Epoch ms. */
  now: number
  limits: WorkLimits
  /** What calls are assumed to record. */
  given?: Given
  /** About the data, for the response. */
  warnings?: Fault[]
}

/** The JSON of a response; or which bound it exceeds. */
type Written = Uint8Array | Overrun

/** Evaluates a rule and simulates its actions. */
export function dryRun({
  definition,
  data,
  now,
  limits,
  explains,
  given,
  warnings,
  bounds,
}: ToEvaluate & Bounds & { explains: boolean }): Written {
  const budget = openBudget({ bounds })
  const rule = compileOrFault(definition)
  const plan =
    'fault' in rule ? { ...rule, ...nothingPlanned } : planRule(rule, data, now, limits, budget, given)
  const outcome = simulatePlan(plan)
  const { conditionsPassed } = outcome
  const trace =
    explains && !('fault' in rule)
      ? { ...explainRule(rule, aloneIn(rule, data), now, limits, budget, [], given), conditionsPassed }
      : undefined
  if (budget.overrun !== null) return { overrun: budget.overrun }
  const json = new JsonPieces(maxResponseBytes - maxEndBytes)
  const preview = conditionsPassed ? previewKey(rule, data) : {}
  if (!writeOutcome(json, { ...outcome, dryRun: true, warnings, ...preview }, trace))
    return { overrun: 'bytes' }
  if ('fault' in rule || !conditionsPassed) return Buffer.concat([json.join(), Buffer.from('}')])
  const situation = { data: aloneIn(rule, data), now, limits, budget, given }
  const end = writeBranches(
    json,
    listChoices(rule, plan.actions, given),
    (choice) => planBranch(rule, choice, situation).actions,
    budget,
  )
  return Buffer.concat([json.join(), Buffer.from(`${end}}`)])
}

/** What the end of a response may need. */
const maxEndBytes = 64

/**
 * Writes what would follow each choice of a decision, as far as work and bytes reach: without them there was a response, too.
 *
 * @returns the end of the response
 */
function writeBranches(
  json: JsonPieces,
  choices: readonly string[],
  plan: (choice: string) => readonly PlannedAction[],
  budget: WorkBudget,
): string {
  let written = 0
  for (const choice of choices) {
    const { results } = simulatePlan({ conditionsPassed: true, actions: plan(choice) })
    const separator = written === 0 ? ',"branches":[' : ','
    if (findOverrun(budget) || !json.add(separator + JSON.stringify({ choice, results }))) break
    written++
  }
  const leftOut = choices.length - written
  return `${written > 0 ? ']' : ''}${leftOut > 0 ? `,"branchesLeftOut":${leftOut}` : ''}`
}

/** Writes an outcome but for its end, by its actions, each of which may have a config of a megabyte. @returns whether it fits */
function writeOutcome<Outcome extends { results: ActionResult[] }>(
  json: JsonPieces,
  { results, ...rest }: Outcome,
  trace: Trace | undefined,
): boolean {
  return (
    json.add(`${JSON.stringify(rest).slice(0, -1)},"results":[`) &&
    results.every((result, n) => (n === 0 || json.add(',')) && json.add(JSON.stringify(result))) &&
    json.add(trace === undefined ? ']' : `],"trace":${JSON.stringify(trace)}`)
  )
}

/** A rule as Postgres writes it: to read the JSON of a thousand rules takes the child's time, and not the API's. */
export interface RuleToDryRun extends Grouped {
  id: string
  name: string
  perKey?: PerKey | null
  conditions: string
  actions: string
}

interface EventToEvaluate extends Omit<ToEvaluate, 'definition'>, Bounds {
  rules: RuleToDryRun[]
  explains: boolean
}

/** Evaluates the rules for one event and simulates their actions. */
export function dryRunEvent({
  rules,
  data,
  now,
  limits,
  explains,
  given,
  warnings,
  bounds,
}: EventToEvaluate): Written {
  const budget = openBudget({ bounds })
  const ready = rules.map(({ group, order, ...rule }) => {
    return { group, order, compiled: budget.isOver ? notReached : compileStored(rule) }
  })
  const plans = planEvent(ready, data, now, limits, budget, given)
  let matched = 0
  const json = new JsonPieces(maxResponseBytes)
  json.add(`{"triggered":${rules.length},"dryRun":true,"results":[`)
  for (const [index, { id: ruleId, name }] of rules.entries()) {
    const { compiled: rule } = ready[index] as (typeof ready)[number]
    const outcome = simulate(plans.next().value as RulePlanInEvent, rules)
    // The rules before it may have left it less work than its trace has.
    const { conditionsPassed } = outcome
    if (conditionsPassed) matched++
    const trace =
      explains && !('fault' in rule)
        ? { ...explainRule(rule, aloneIn(rule, data), now, limits, budget, [], given), conditionsPassed }
        : undefined
    const overrun = findOverrun(budget)
    if (overrun) return overrun
    const preview = outcome.status === 'simulated' && conditionsPassed ? previewKey(rule, data) : {}
    const fits =
      (index === 0 || json.add(',')) &&
      writeOutcome(json, { ruleId, name, executionId: null, ...outcome, ...preview }, trace) &&
      json.add('}')
    if (!fits) return { overrun: 'bytes' }
  }
  const end = JSON.stringify({ matched, warnings })
  return json.add(`],${end.slice(1)}`) ? json.join() : { overrun: 'bytes' }
}

type SimulatedOutcome = Omit<RuleResult, 'ruleId' | 'executionId'> & { results: ActionResult[] }

const notReached = { fault: '' }
const nothingPlanned = { conditionsPassed: false, actions: [] }

function simulate(plan: RulePlanInEvent, rules: RuleToDryRun[]): SimulatedOutcome {
  const { success, conditionsPassed, results, error = findError(results) } = simulatePlan(plan)
  const winner = rules[plan.outrankedBy ?? -1]
  const outcome = { success, conditionsPassed, ...(error !== null && { error }), results }
  if (winner !== undefined) return { ...outcome, status: 'outranked', outranked: { by: winner.id } }
  return { ...outcome, status: conditionsPassed || !success ? 'simulated' : 'not_matched' }
}

/** A dry run reads no state: it says which key the event has, and grants it. */
function previewKey(rule: CompiledRule | { fault: string }, data: unknown): { perKey?: KeyPreview } {
  if ('fault' in rule || rule.perKey === undefined) return {}
  const { key, fault, warnings: own } = rule.perKey.render(data)
  const warnings = fault === undefined ? own : [...own, fault]
  const shown = { key: showKey(key), limits: 'not_evaluated' as const }
  return { perKey: warnings.length === 0 ? shown : { ...shown, warnings: [...warnings] } }
}

function compileStored({
  perKey,
  conditions,
  actions,
}: Pick<RuleToDryRun, 'perKey' | 'conditions' | 'actions'>): CompiledRule | { fault: string } {
  return compileOrFault({
    perKey: perKey ?? null,
    conditions: JSON.parse(conditions),
    actions: JSON.parse(actions),
  })
}

function compileOrFault(definition: DryRunDefinition): CompiledRule | { fault: string } {
  try {
    return compileRule(definition)
  } catch (error) {
    return { fault: `The rule does not compile: ${(error as Error).message}` }
  }
}
