import {
  type ActionResult,
  type CompiledRule,
  compileMailTemplate,
  compileRule,
  explainRule,
  type Fault,
  findError,
  findRuleFaults,
  Judging,
  type Plan,
  planEvent,
  planRule,
  type RenderedMail,
  type RuleDefinition,
  sharedSchemas,
  simulatePlan,
  type Trace,
  type WorkLimits,
} from '@automation/engine'
import { lowerPriority } from '@automation/environment'
import { type Serializer, SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { ExplainedResult } from '../acceptance/execution-result.js'
import { RuleResult } from '../acceptance/results.js'
import { type Bounds, findOverrun, type Overrun, openBudget } from './bounds.js'

export { continueBacktest, reportBacktest } from '../differences/continue-backtest.js'
export { checkSet } from './check-set.js'
export { matchEvents } from './match-events.js'
export { surveyEvents } from './survey-events.js'
export { whyOfEvent } from './why-of-event.js'

// What the judge's thread does. It has neither database nor settings: all that it needs comes with the request, as a structured clone, and
// nothing is kept from one turn to the next.

export interface ToJudge {
  definition: RuleDefinition
  data: unknown
  /** Epoch ms. */
  now: number
  limits: WorkLimits
  /** About the data, for the response. */
  warnings?: Fault[]
}

/** Called once before a thread's first request, so that the time to start it counts for none. */
export const start = lowerPriority

/**
 * Judges a rule and simulates its actions.
 *
 * @returns the JSON of the response: twenty configs of a megabyte would take the API's own thread too long to write
 */
export function dryRun({
  definition,
  data,
  now,
  limits,
  explains,
  warnings,
  bounds,
}: ToJudge & Bounds & { explains: boolean }): Uint8Array | Overrun {
  const budget = openBudget({ bounds })
  const rule = compileRule(definition)
  const outcome = { ...simulatePlan(planRule(rule, data, now, limits, budget)), dryRun: true, warnings }
  const { conditionsPassed } = outcome
  const result = explains
    ? { ...outcome, trace: { ...explainRule(rule, data, now, limits, budget), conditionsPassed } }
    : outcome
  if (budget.overrun !== null) return { overrun: budget.overrun }
  serializeResult ??= compileSerializer(ExplainedResult)
  return new TextEncoder().encode(serializeResult(result))
}

/** A rule as Postgres writes it: to read the JSON of a thousand rules takes the thread's time, and not the API's. */
export interface StoredRule {
  id: string
  name: string
  conditions: string
  actions: string
}

interface EventToJudge extends Omit<ToJudge, 'definition'>, Bounds {
  rules: StoredRule[]
  explains: boolean
  maxBytes: number
}

/**
 * Judges the rules for one event and simulates their actions.
 *
 * @returns the JSON of the response; null where it has more than `maxBytes`
 */
export function dryRunEvent({
  rules,
  data,
  now,
  limits,
  explains,
  maxBytes,
  warnings,
  bounds,
}: EventToJudge): Uint8Array | Overrun | null {
  const budget = openBudget({ bounds })
  serializeOfEvent ??= compileSerializer(RuleResult)
  const ready = rules.map((rule) => (budget.isOver ? notReached : compileStored(rule)))
  const compiled = ready.flatMap((rule) => ('fault' in rule ? [] : [rule]))
  const plans = planEvent(compiled, data, now, limits, budget)
  const parts: string[] = []
  let left = maxBytes
  for (const [index, { id: ruleId, name }] of rules.entries()) {
    const rule = ready[index] as (typeof ready)[number]
    const outcome = 'fault' in rule ? simulateFault(rule.fault) : simulate(plans.next().value as Plan)
    // The rules before it may have left it less work than its trace has.
    const { conditionsPassed } = outcome
    const trace =
      explains && !('fault' in rule)
        ? { trace: { ...explainRule(rule, data, now, limits, budget), conditionsPassed } }
        : {}
    const overrun = findOverrun(budget)
    if (overrun) return overrun
    const part = serializeOfEvent({ ruleId, name, executionId: null, ...outcome, ...trace })
    left -= part.length
    if (left < 0) return null
    parts.push(part)
  }
  const warned = warnings === undefined ? '' : `,"warnings":${JSON.stringify(warnings)}`
  const json = `{"triggered":${rules.length},"dryRun":true,"results":[${parts.join(',')}]${warned}}`
  return new TextEncoder().encode(json)
}

const notReached = { fault: '' }

function simulate(plan: Plan): Omit<RuleResult, 'ruleId' | 'executionId'> {
  const { success, conditionsPassed, results, error = findError(results) } = simulatePlan(plan)
  return {
    success,
    status: conditionsPassed || !success ? 'simulated' : 'not_matched',
    conditionsPassed,
    ...(error !== null && { error }),
    results,
  }
}

function simulateFault(error: string): Omit<RuleResult, 'ruleId' | 'executionId'> {
  return { success: false, status: 'simulated', conditionsPassed: false, error, results: [] }
}

function compileStored({ conditions, actions }: StoredRule): CompiledRule | { fault: string } {
  try {
    return compileRule({ conditions: JSON.parse(conditions), actions: JSON.parse(actions) })
  } catch (error) {
    return { fault: `The rule does not compile: ${(error as Error).message}` }
  }
}

interface ToExplain extends ToJudge, Bounds {
  /** JSON of the event's data. */
  data: string
  results: ActionResult[]
}

/** @returns null for a definition that does not compile */
export function explain({
  definition,
  data,
  now,
  limits,
  results,
  bounds,
}: ToExplain): Trace | Overrun | null {
  const budget = openBudget({ bounds })
  const rule = compileOrNull(definition)
  const trace = rule && explainRule(rule, JSON.parse(data), now, limits, budget, results)
  return findOverrun(budget) ?? trace
}

export function renderMail({
  texts,
  data,
  variables,
  limits,
  bounds,
}: MailToRender & Bounds): RenderedMail | { fault: string } {
  return compileMailTemplate(texts).render(data, variables, new Judging(0, limits, openBudget({ bounds })))
}

interface MailToRender {
  texts: Parameters<typeof compileMailTemplate>[0]
  data: object
  variables: object
  limits: WorkLimits
}

/** @returns the faults of a rule, which compiles its patterns */
export function findFaults({ conditions, actions }: { conditions?: unknown; actions?: unknown }): Fault[] {
  return findRuleFaults({ conditions, actions })
}

let serializeResult: Serializer | undefined
let serializeOfEvent: Serializer | undefined

/** The serializer that the API compiles for the schema of this response, so that both write the same. */
function compileSerializer(schema: object): Serializer {
  const schemas = Object.fromEntries(
    (sharedSchemas as { $id?: string }[]).map((schema) => [schema.$id, schema]),
  )
  const compile = SerializerSelector()(schemas)
  return compile({ schema, method: 'POST', url: '', httpStatus: '200' })
}

function compileOrNull(definition: RuleDefinition) {
  try {
    return compileRule(definition)
  } catch {
    return null
  }
}
