import type { ActionConfig } from '../actions/index.js'
import { maxMatchLength } from '../actions/wait.js'
import type { CompiledCondition } from '../conditions/compiled-condition.js'
import { compileCondition } from '../conditions/conditions.js'
import { decisionType } from '../results/decision.js'
import type { Condition } from '../rule.js'
import { cutText } from '../texts/cut-text.js'
import { areEqual, keyOf } from '../values/comparison.js'
import { compilePath, readOrMiss } from '../values/path.js'
import type { Evaluation } from '../work/evaluation.js'

type WaitForConfig = NonNullable<ActionConfig<'WAIT'>['for']>

/** What a WAIT waits for, compiled. */
export interface WaitFor {
  readonly eventType: string
  /** Whether it waits for a person to decide. */
  readonly isDecision: boolean
  readonly then: WaitForConfig['then']
  /** Of `match`, in the order of their texts. */
  readonly paths: readonly string[]
  readonly conditions: readonly CompiledCondition[]
}

/** No event ends such a WAIT, but the decision that its execution has; in tests of rules an event stands for it. */
export const waitForDecision: WaitFor = {
  eventType: decisionType,
  isDecision: true,
  then: 'go_on',
  paths: [],
  conditions: [],
}

/** The values that an event must have, by path. */
export type Match = WaitForConfig['match']

/** Throws an Error for faults of conditions, as for those of a rule. */
export function compileWaitFor({ eventType, match, conditions = [], then }: WaitForConfig): WaitFor {
  return {
    eventType,
    isDecision: false,
    then,
    paths: Object.keys(match).sort(),
    conditions: (conditions as readonly Condition[]).map(compileCondition),
  }
}

/**
 * The text by which an event finds the WAITs that it may end: those of its type that match the same values at the same paths. A text that is a number
 * has the key of that number, so that values which are equal always meet; the converse is for `endsWait`.
 */
export function writeMatch(eventType: string, match: Match): string {
  const pairs = Object.keys(match)
    .sort()
    .map((path) => [path, keyOf(match[path])])
  return JSON.stringify([eventType, pairs])
}

/** What an event has at these paths; undefined where it cannot end any WAIT that matches them. */
export function readMatch(paths: readonly string[], data: unknown): Match | undefined {
  const match: Record<string, string | number | boolean> = {}
  for (const path of paths) {
    const value = readOrMiss(compilePath(path), data)
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
    if (value === '' || (typeof value === 'string' && value.length > maxMatchLength)) return undefined
    Object.defineProperty(match, path, { value, enumerable: true })
  }
  return match
}

/**
 * Whether an event ends a WAIT: `evaluation` is at its acceptance. Conditions that need too much work do not hold. Never throws, on any data.
 *
 * @param match as it was rendered
 */
export function endsWait(waitFor: WaitFor, match: Match, data: unknown, evaluation: Evaluation): boolean {
  evaluation.beginRule()
  for (const path of waitFor.paths)
    if (!areEqual(readOrMiss(compilePath(path), data), match[path])) return false
  for (const condition of waitFor.conditions) if (!condition.holds(data, evaluation)) return false
  return evaluation.overrun === null
}

/** An event that may end a WAIT. */
export interface EndingEvent {
  readonly id: string
  /** Epoch ms. */
  readonly acceptedAt: number
  readonly data: object
}

/** In JSON, of the fields of one event that the results of an execution keep. */
const maxWaitedLength = 16_384
/** Fields that a warning names. */
const maxTooLong = 3

/**
 * What an execution keeps of the event that ended its WAIT: the fields that its rule reads. The event itself may be gone before the next action.
 *
 * @param names undefined: all fields
 */
export function keepWaited(
  data: object,
  names: readonly string[] | undefined,
): { waited: Record<string, unknown>; warnings: string[] } {
  const warnings: string[] = []
  let left = maxWaitedLength
  const kept = Object.entries(data).filter(([name, value]) => {
    if (names?.includes(name) === false) return false
    const length = JSON.stringify(value)?.length ?? 0
    if (length > left) {
      if (warnings.length < maxTooLong) warnings.push(`waited.${cutText(name, 60)} is too long to be kept`)
      return false
    }
    left -= length
    return true
  })
  return { waited: Object.fromEntries(kept), warnings }
}
