import { findOperator } from '../operators/index.js'
import type { Operator } from '../operators/operator.js'
import type { Clause } from '../rule.js'
import { excerptOf } from '../values/excerpt.js'
import { compilePath, type Path, readOrMiss, readPath } from '../values/path.js'
import { compileItemPath, isReference, readReference } from '../values/value-reference.js'
import type { Evaluation } from '../work/evaluation.js'
import type { CompiledCondition } from './compiled-condition.js'
import { explainValue } from './explain-value.js'

/** What the paths of a clause begin at. */
export type Scope = 'event' | 'item'

/** A clause, ready to be evaluated: its operator, the path that it reads, and that of the value it compares with, if that is no constant. */
interface ClauseParts {
  readonly clause: Clause
  readonly operator: Operator
  readonly path: Path
  readonly other: { readonly path: Path; readonly isRoot: boolean } | undefined
}

type Holds = CompiledCondition['holds']

export function compileClause(clause: Clause, scope: Scope): CompiledCondition {
  const operator = findOperator(clause.operator)
  if (!operator) throw new Error(`No operator: ${clause.operator}`)
  const compile = scope === 'item' ? compileItemPath : compilePath
  const path = compile(clause.field)
  const parts = { clause, operator, path, other: compileOther(clause.value, compile) }
  const compare = parts.other === undefined ? compareConstant(parts) : compareTwo(parts)
  const holds = scope === 'item' ? chargeReading(parts, compare) : compare
  return {
    holds,
    explain: (data, evaluation) => explainClause(parts, data, holds(data, evaluation), evaluation),
    equalities:
      operator.findWanted && parts.other === undefined
        ? [{ field: clause.field, wanted: operator.findWanted(clause.value) }]
        : [],
  }
}

function compileOther(value: unknown, compile: (text: string) => Path): ClauseParts['other'] {
  if (!isReference(value)) return undefined
  const { text, isRoot } = readReference(value)
  return { path: isRoot ? compilePath(text) : compile(text), isRoot }
}

function compareConstant({ clause, operator, path }: ClauseParts): Holds {
  const test = operator.compile(clause.value)
  return (data, evaluation) => {
    try {
      return test(readPath(path, data), evaluation)
    } catch {
      // Only data that never was JSON comes here (a getter that throws): what cannot be read is missing.
      return test(undefined, evaluation)
    }
  }
}

function compareTwo(parts: ClauseParts): Holds {
  const { operator, path } = parts
  const { compareTwo: compare } = operator
  if (compare === undefined) throw new Error(`${operator.name} compares with a constant only`)
  return (data, evaluation) => compare(readOrMiss(path, data), readOther(parts, data, evaluation), evaluation)
}

function readOther({ other }: ClauseParts, data: unknown, { root }: Evaluation): unknown {
  return other && readOrMiss(other.path, other.isRoot ? root : data)
}

/** To read so many keys takes as long as a unit of work. */
const keysPerUnit = 8

/** There may be 20,000 items, so that what costs nothing once is charged: reading a path, and a text as a number or a time. */
function chargeReading(parts: ClauseParts, holds: Holds): Holds {
  const { operator, path, other } = parts
  const units = 1 + (path.length + (other?.path.length ?? 0)) / keysPerUnit
  const { textUnits } = operator
  const unitsOf = (value: unknown) => (typeof value === 'string' && textUnits ? textUnits(value.length) : 0)
  if (textUnits === undefined) return (item, evaluation) => evaluation.spend(units) && holds(item, evaluation)
  return (item, evaluation) => {
    const texts = unitsOf(readOrMiss(path, item)) + unitsOf(readOther(parts, item, evaluation))
    return evaluation.spend(units + texts) && holds(item, evaluation)
  }
}

function explainClause(
  parts: ClauseParts,
  data: unknown,
  verdict: boolean,
  evaluation: Evaluation,
): ReturnType<CompiledCondition['explain']> {
  const { clause, operator, path, other } = parts
  const actual = readOrMiss(path, data)
  const compared = other === undefined ? clause.value : readOther(parts, data, evaluation)
  return {
    field: clause.field,
    operator: operator.name,
    ...(operator.value && { expected: clause.value }),
    ...(actual !== undefined && { actual: excerptOf(actual) }),
    ...(other && compared !== undefined && { other: excerptOf(compared) }),
    verdict: verdict && evaluation.overrun === null,
    ...(evaluation.fault === null
      ? explainValue(
          { operator, value: compared, path, isTwo: other !== undefined },
          { data, actual, verdict, now: evaluation.now },
        )
      : { warning: evaluation.fault }),
  }
}
