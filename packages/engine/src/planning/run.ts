import { type ActionConfig, type ActionType, isDoneByCommit } from '../actions/index.js'
import { explainAll } from '../conditions/condition-groups.js'
import { findConfigFault } from '../configs/config-fault.js'
import { collectedAlone } from '../per-key/batch-data.js'
import { type Assumed, recordOrAssume } from '../results/assumed-result.js'
import type { DecisionLinks } from '../results/decision-links.js'
import type { ActionResult, Trace } from '../results/outcome.js'
import { addRecorded, declaresAny } from '../results/recorded.js'
import type { CredentialValues } from '../templates/credential.js'
import type { Rendering } from '../templates/fill-placeholder.js'
import { maxRenderedLength } from '../values/to-text.js'
import { Evaluation, type WorkLimits } from '../work/evaluation.js'
import type { WorkBudget } from '../work/work-budget.js'
import type { CompiledAction, CompiledRule } from './compile-rule.js'
import type { ItemEvent } from './emit-each.js'
import { findWaitEnd } from './wait-end.js'

/** What a rule would do for one event: evaluated, rendered and checked, but not yet done. */
export interface RulePlan {
  readonly conditionsPassed: boolean
  /** Empty when the conditions did not pass. */
  readonly actions: readonly PlannedAction[]
  /** Why the conditions could not be evaluated. */
  readonly fault?: string
}

interface Planned {
  /** The action as defined in the rule. */
  readonly of: CompiledAction
  /** Its planned time (epoch ms): the start of the execution, or the end of its last WAIT. */
  readonly at: number
  /** For example about placeholders whose path the data lacks. */
  readonly warnings: readonly string[]
}

/** To be performed: its config is rendered and fits the action's schema. Read-only, since plans share parts of configs. */
export type ReadyAction = {
  [Type in ActionType]: Planned & {
    readonly type: Type
    readonly config: ActionConfig<Type>
    /** How many characters its placeholders rendered. */
    readonly size: number
    /** Of an action with forEach: the events that it emits. */
    readonly events?: readonly ItemEvent[]
    /** Of a call with credentials, or with links of a decision: renders the config again, with their values. */
    readonly fillCredentials?: FillCredentials<ActionConfig<Type>>
    /** Of a WAIT: its end (epoch ms), if it is reached at its planned time. */
    readonly end?: number
    /** Of a WAIT: the last moment (epoch ms) at which an event ends it. It is before `end` where the date of the WAIT was past already. */
    readonly deadline?: number
  }
}[ActionType]

/** @returns why the call must not be made, without any value */
export type FillCredentials<Config = unknown> = (
  values: CredentialValues,
  links?: DecisionLinks,
) => { config: Config } | { fault: string }

/** Skipped, since its `when` did not hold. */
type SkippedAction = Planned & { readonly skipped: string }

/** Not performed, since its rendered config does not fit the action. */
type FaultyAction = Planned & { readonly config: unknown; readonly fault: string }

export type PlannedAction = ReadyAction | SkippedAction | FaultyAction

const notPassed: RulePlan = Object.freeze({ conditionsPassed: false, actions: Object.freeze([]) })

/**
 * Evaluates the conditions of a rule, the next one for this event. Where `evaluation.fault` says afterwards that the work was used up,
 * the rule was not evaluated, and the result is false. Never throws, on any data.
 */
export function ruleHolds(rule: CompiledRule, data: unknown, evaluation: Evaluation): boolean {
  evaluation.beginRule()
  for (const condition of rule.conditions) if (!condition.holds(data, evaluation)) return false
  return evaluation.overrun === null
}

/**
 * What an execution that started `now` (epoch ms) would do if nothing failed: each action is planned for its time. Never throws, on
 * any data.
 */
export function planRule(
  rule: CompiledRule,
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
  given?: Assumed,
): RulePlan {
  const evaluation = new Evaluation(now, limits, budget)
  if (!ruleHolds(rule, data, evaluation)) return planNothing(evaluation)
  return planActions(rule, aloneIn(rule, data), now, evaluation, [], given)
}

/** What the actions of a rule read of an event that is in no batch. */
export function aloneIn({ perKey }: CompiledRule, data: unknown): unknown {
  const isRead = perKey?.collect !== undefined && typeof data === 'object' && data !== null
  return isRead ? collectedAlone(data) : data
}

/** The plan for a rule whose conditions did not pass, or could not be evaluated. */
export function planNothing({ fault }: Pick<Evaluation, 'fault'>): RulePlan {
  return fault === null ? notPassed : { ...notPassed, fault }
}

/**
 * Plans the actions of a rule whose conditions passed. As at a worker, the work of one rule is that of a turn, which a call or a WAIT
 * ends.
 *
 * @param data as the actions read it: aloneIn, or withCollected
 * @param results of an execution, whose WAITs have ended when they did
 * @param given what calls without a result are assumed to have recorded
 */
export function planActions(
  rule: CompiledRule,
  data: unknown,
  now: number,
  evaluation: Evaluation,
  results: readonly ActionResult[] = [],
  given?: Assumed,
): RulePlan {
  const actions: PlannedAction[] = []
  const recorded: ActionResult[] = []
  let at = now
  evaluation.beginRule()
  for (const action of rule.actions) {
    const planned = planAction(action, scopeOf(rule, action, data, recorded, evaluation), at, evaluation)
    actions.push(planned)
    const result = isDeclaring(rule) ? recordOrAssume(results[action.index], planned, given) : undefined
    if (result !== undefined) recorded.push(result)
    at = (action.type === 'WAIT' ? readEnd(results[action.index]) : undefined) ?? endOf(planned, result)
    // What the commit does is recorded with the turn; all else ends it.
    if (isReady(planned) && !isDoneByCommit(planned.type)) evaluation.beginRule()
  }
  return { conditionsPassed: true, actions }
}

/** The moment of the next action: a WAIT moves it on, unless somebody is assumed to decide at once. */
function endOf(action: PlannedAction, result?: ActionResult): number {
  const isMoved = isReady(action) && result?.ended !== 'decision'
  return (isMoved ? action.end : undefined) ?? action.at
}

/**
 * Explains each clause: what it expected and found. Slower than planRule, with the same verdicts: what the run does not evaluate is evaluated
 * with work of its own. Clauses beyond that are false and have a warning. Each `when` is evaluated at the moment of its action.
 *
 * @param data as the actions read it: aloneIn, or withCollected
 * @param results of an execution, whose WAITs have ended when they did
 */
export function explainRule(
  rule: CompiledRule,
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
  results: readonly ActionResult[] = [],
  given?: Assumed,
): Trace {
  const evaluation = new Evaluation(now, limits, budget)
  const spare = new Evaluation(now, limits, budget)
  const { children, verdict } = explainAll('all', rule.conditions, data, evaluation, spare)
  evaluation.beginRule()
  const planning = new Evaluation(now, limits, budget)
  const recorded: ActionResult[] = []
  let at = now
  const actions = rule.actions.map((action) => {
    const { index, type, name, when } = action
    evaluation.now = spare.now = at
    const scope = scopeOf(rule, action, data, recorded, evaluation)
    const named = name === undefined ? {} : { name }
    const trace = { index, type, ...named, ...(when && { when: when.explain(scope, evaluation, spare) }) }
    if (trace.when?.verdict !== false && !isDoneByCommit(type)) evaluation.beginRule()
    if (type === 'WAIT' || isDeclaring(rule)) {
      const planned = planAction(action, scope, at, planning)
      const result = recordOrAssume(results[index], planned, given)
      if (type === 'WAIT') at = readEnd(results[index]) ?? endOf(planned, result)
      recorded.push(result)
    }
    return trace
  })
  return { conditionsPassed: verdict, conditions: children, actions }
}

/** What an action reads: the data of the event, and in a rule that declares it, what earlier actions recorded. */
export function scopeOf(
  { declared }: CompiledRule,
  { index, readsRecorded }: CompiledAction,
  data: unknown,
  results: readonly ActionResult[],
  evaluation: Evaluation,
): unknown {
  return readsRecorded ? addRecorded(declared, data, results, index, evaluation) : data
}

/** Whether actions of the rule have names, capture values, or wait for an event. */
export function isDeclaring({ declared }: CompiledRule): boolean {
  return declaresAny(declared)
}

/** The end of a WAIT that was reached. */
export function readEnd(result: ActionResult | undefined): number | undefined {
  return result?.until === undefined ? undefined : Date.parse(result.until)
}

/** Renders one action for a moment (epoch ms). Never throws, on any data. */
export function planAction(
  action: CompiledAction,
  data: unknown,
  at: number,
  evaluation: Evaluation,
): PlannedAction {
  const rendering: Rendering = { warnings: [], size: 0, evaluation }
  const { warnings } = rendering
  if (action.when) {
    evaluation.now = at
    const holds = action.when.holds(data, evaluation)
    if (evaluation.fault !== null)
      return { of: action, at, warnings, config: undefined, fault: `when: ${evaluation.fault}` }
    if (!holds) return { of: action, at, warnings, skipped: 'the condition in `when` did not match' }
  }
  // Of `where`.
  if (action.renderEach) evaluation.now = at
  const config = action.config.render(data, rendering)
  const events = action.renderEach?.(data, rendering)
  if (evaluation.fault !== null)
    return { of: action, at, warnings, config: undefined, fault: evaluation.fault }
  const fault =
    rendering.size > maxRenderedLength
      ? `config renders to more than ${maxRenderedLength} characters`
      : (rendering.fault ?? findConfigFault(action.type, config, action.config, data))
  if (fault) return { of: action, at, warnings, config, fault }
  // findConfigFault has checked that the config fits its type, which TypeScript cannot infer.
  const ready = { of: action, at, warnings, type: action.type, config, size: rendering.size } as ReadyAction
  if (ready.type === 'WAIT') return planWait(ready)
  if (action.credentials || action.links)
    return { ...ready, fillCredentials: (...values) => fill(action, data, ...values) } as ReadyAction
  return events === undefined ? ready : { ...ready, events }
}

function planWait(action: Extract<ReadyAction, { type: 'WAIT' }>): PlannedAction {
  const { of, at, warnings, config } = action
  const found = findWaitEnd(config, at)
  if ('fault' in found) return { of, at, warnings, config, fault: found.fault }
  const told = found.warning === undefined ? warnings : [...warnings, found.warning]
  return { ...action, warnings: told, end: found.end, deadline: found.past ?? found.end }
}

/** The data is what the config was rendered from, so that all but credentials and links is the same. What it costs was charged then. */
function fill(
  { config }: CompiledAction,
  data: unknown,
  credentials: CredentialValues,
  links?: DecisionLinks,
): ReturnType<FillCredentials> {
  const rendering: Rendering = { warnings: [], size: 0, credentials }
  const filled = config.render(links ? { ...(data as object), decision: { links } } : data, rendering)
  const fault =
    rendering.size > maxRenderedLength
      ? `config renders to more than ${maxRenderedLength} characters`
      : rendering.fault
  return fault === undefined ? { config: filled } : { fault }
}

export function isReady(action: PlannedAction): action is ReadyAction {
  return 'type' in action
}
