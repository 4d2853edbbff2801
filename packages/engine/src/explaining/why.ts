import { Type } from 'typebox'
import { type CompiledRule, compileRule } from '../planning/compile-rule.js'
import { aloneIn, explainRule } from '../planning/run.js'
import type { ConditionTrace, Trace } from '../results/outcome.js'
import type { RuleDefinition } from '../rule.js'
import { compilePath, readPath } from '../values/path.js'
import { Evaluation, type WorkLimits } from '../work/evaluation.js'
import type { WorkBudget } from '../work/work-budget.js'
import { findDecisive } from './decisive.js'
import { findChange } from './nearest-change.js'
import { addHints } from './trace-hints.js'

/** A value with which the rule would have matched. */
export const NearestChange = Type.Object(
  {
    field: Type.String(),
    from: Type.Optional(
      Type.Unknown({
        description: 'Value in the event, at most 1,000 characters. Absent if the event has none.',
      }),
    ),
    to: Type.Unknown({ description: 'null also stands for a missing field' }),
  },
  { title: 'Change' },
)
export type NearestChange = Type.Static<typeof NearestChange>

/** Why a version of a rule matches data at a moment, or not. */
export interface Why {
  conditionsPassed: boolean
  /** The paths of the smallest set of clauses that would have to turn for the verdict to turn, such as `conditions[0].any[1]`. */
  decisive: string[]
  /** Near data with which it would match, checked by the engine; null where it matches, or where none was found. */
  change: NearestChange[] | null
  trace: Trace
}

/**
 * Explains the verdict of one version of a rule for the data of an event, evaluated at a moment (epoch ms): that of its acceptance. It is a
 * function of its arguments alone, and runs in a browser as in a service.
 *
 * @param budget of the question: where it ends, clauses have a warning, and change and hints are missing
 * @throws where the definition does not compile
 */
export function explainWhy(
  definition: RuleDefinition,
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
): Why {
  const { conditions } = definition
  const rule = compileRule(definition)
  const evaluation = evaluateWhy(definition, rule, data, now, limits, budget)
  const { trace, sets } = evaluation
  const [decisive = []] = sets
  const isMissed = !trace.conditionsPassed && !evaluation.isFaulty
  const found = isMissed ? findChange(conditions, sets, data, new Evaluation(now, limits, budget)) : null
  return {
    conditionsPassed: trace.conditionsPassed,
    decisive: decisive.map(({ path }) => path),
    change:
      found?.map(({ field, to }) => ({
        field,
        ...readFrom(field, data, trace.conditions),
        to,
      })) ?? null,
    trace: { ...trace, conditions: addHints(trace.conditions, data, new Evaluation(now, limits, budget)) },
  }
}

/** The part of it that orders many rules: the trace, and the sets of clauses that turn the verdict. */
export function evaluateWhy(
  { conditions }: RuleDefinition,
  rule: CompiledRule,
  data: unknown,
  now: number,
  limits?: WorkLimits,
  budget?: WorkBudget,
) {
  const trace = explainRule(rule, aloneIn(rule, data), now, limits, budget)
  const isFaulty = trace.conditions.some(hasWarning)
  // A clause that was not evaluated has no verdict to turn.
  const sets = isFaulty ? [] : findDecisive(conditions, trace.conditions)
  return { trace, sets, isFaulty }
}

function hasWarning(trace: ConditionTrace): boolean {
  return 'group' in trace ? trace.children.some(hasWarning) : trace.warning !== undefined
}

function readFrom(field: string, data: unknown, traces: readonly ConditionTrace[]): { from?: unknown } {
  const actual = readPath(compilePath(field), data)
  if (actual === undefined) return {}
  // The trace shows an excerpt of a large value.
  const shown = findActual(field, traces)
  return { from: shown === undefined ? actual : shown }
}

function findActual(field: string, traces: readonly ConditionTrace[]): unknown {
  for (const trace of traces) {
    const actual =
      'group' in trace
        ? findActual(field, trace.children)
        : 'field' in trace && trace.field === field
          ? trace.actual
          : undefined
    if (actual !== undefined) return actual
  }
  return undefined
}
