import type { Finding, Witness } from '@automation/check'
import {
  type CheckedRule,
  type Condition,
  compileRule,
  Evaluation,
  maxEmissionDepth,
  type RuleDefinition,
  ruleHolds,
} from '@automation/engine'
import type { SimulatedEvent } from '@automation/rule-tests'
import { does, emit } from './simulated.js'

/** Says why a finding is false, given events; undefined where nothing speaks against it. */
export function refute(
  finding: Finding,
  rules: readonly CheckedRule[],
  events: readonly object[],
  moments: readonly number[],
): string | undefined {
  const rule = rules[finding.rule.index] as CheckedRule
  const other = rules[finding.others[0]?.index ?? -1]
  const everywhere = (fails: (data: object, at: number) => boolean): string | undefined => {
    for (const at of moments)
      for (const data of events) if (fails(data, at)) return JSON.stringify({ at: new Date(at), data })
    return undefined
  }
  const witness = finding.witness
  const others = finding.others.map(({ index }) => rules[index] as CheckedRule)
  const isGrouped = [rule, ...others].some(({ group = null }) => group !== null)
  // Which rule of a group runs is not known to what compares two rules, or follows a chain.
  if (isGrouped && ['overlap', 'duplicate', 'contained', 'loop'].includes(finding.code))
    return 'It is in a group'
  switch (finding.code) {
    case 'never_matches':
    case 'dead_since':
      return everywhere((data, at) => holds(rule, data, at))
    case 'never_first':
      if (others.some((one) => one.group !== rule.group || (one.order ?? 0) > (rule.order ?? 0)))
        return 'They are not before it'
      return everywhere((data, at) => holds(rule, data, at) && !others.some((one) => holds(one, data, at)))
    case 'always_true': {
      const part = {
        ...rule,
        conditions: finding.path === 'conditions' ? rule.conditions : [read(rule, finding.path)],
      }
      return everywhere((data, at) => !holds(part, data, at))
    }
    case 'implied':
      return refuteImplied(finding, rule, everywhere)
    case 'unreachable_action': {
      const guarded = guard(rule, Number(/\d+/.exec(finding.path)?.[0]))
      return everywhere((data, at) => holds(guarded, data, at))
    }
    case 'overlap':
      return refuteWitness(
        witness,
        [rule, other as CheckedRule],
        [finding.path, finding.others[0]?.path ?? ''],
      )
    case 'duplicate':
    case 'contained': {
      const doesThis = (data: object, at: number) => does(rule, indexOf(finding.path), data, at)
      const doesOther = (data: object, at: number) =>
        does(other as CheckedRule, indexOf(finding.others[0]?.path ?? ''), data, at)
      return (
        refuteWitness(witness, [rule, other as CheckedRule], [finding.path, finding.others[0]?.path ?? '']) ??
        everywhere((data, at) => doesThis(data, at) && !doesOther(data, at)) ??
        (finding.code === 'duplicate' || finding.message.includes('for the same events')
          ? everywhere((data, at) => doesOther(data, at) && !doesThis(data, at))
          : undefined)
      )
    }
    case 'loop':
      return refuteLoop(finding, rules)
    default:
      return undefined
  }
}

export function holds(rule: RuleDefinition, data: object, at: number): boolean {
  return ruleHolds(compiledOf(rule), data, new Evaluation(at))
}

const compiled = new WeakMap<object, ReturnType<typeof compileRule>>()

function compiledOf(rule: RuleDefinition) {
  let found = compiled.get(rule)
  if (found === undefined) {
    found = compileRule({ conditions: rule.conditions, actions: rule.actions })
    compiled.set(rule, found)
  }
  return found
}

type Everywhere = (fails: (data: object, at: number) => boolean) => string | undefined

function refuteImplied(finding: Finding, rule: CheckedRule, everywhere: Everywhere): string | undefined {
  if (finding.path.endsWith('.when')) {
    const index = indexOf(finding.path)
    const guarded = guard(rule, index)
    return everywhere((data, at) => holds(rule, data, at) && !holds(guarded, data, at))
  }
  const outcomes = [true, false].map((verdict) => {
    const changed = structuredClone(rule)
    write(changed, finding.path, verdict ? { all: [always] } : { not: always })
    return everywhere((data, at) => holds(rule, data, at) !== holds(changed, data, at))
  })
  return outcomes.some((outcome) => outcome === undefined) ? undefined : outcomes.join(' and ')
}

const always: Condition = {
  any: [
    { field: 'q', operator: 'exists' },
    { field: 'q', operator: 'not_exists' },
  ],
}

function refuteWitness(
  witness: Witness | null,
  rules: readonly CheckedRule[],
  places: readonly string[],
): string | undefined {
  if (witness === null) return 'no witness'
  const at = Date.parse(witness.at)
  const data = JSON.parse(JSON.stringify(witness.data))
  const failing = rules.find(
    (rule, n) => witness.type !== rule.trigger || !does(rule, indexOf(places[n] as string), data, at),
  )
  return failing && `${failing.name} does not do it for ${JSON.stringify(witness)}`
}

function refuteLoop(finding: Finding, rules: readonly CheckedRule[]): string | undefined {
  const { witness } = finding
  if (witness === null) return 'no witness'
  const steps = [finding, ...finding.others].map((one) => ({
    rule: rules[('code' in one ? one.rule : one).index] as CheckedRule,
    action: indexOf(one.path),
  }))
  let event: SimulatedEvent = { ...witness, at: Date.parse(witness.at) }
  for (let depth = 0; depth <= maxEmissionDepth; depth++) {
    const { rule, action } = steps[depth % steps.length] as (typeof steps)[number]
    const next = event.type === rule.trigger ? emit(rule, action, event) : undefined
    if (next === undefined) return `ends after ${depth} events: ${JSON.stringify(witness)}`
    event = next
  }
  return undefined
}

/** The rule as it does one of its actions: the `when` is a condition. */
export function guard(rule: CheckedRule, action: number): CheckedRule {
  const when = rule.actions[action]?.when
  return when === undefined ? rule : { ...rule, conditions: [...rule.conditions, when] }
}

function indexOf(path: string): number {
  return Number(/\d+/.exec(path)?.[0])
}

function segmentsOf(path: string): string[] {
  return path.match(/[^.[\]]+/g) ?? []
}

function read(rule: CheckedRule, path: string): Condition {
  return segmentsOf(path).reduce<unknown>(
    (value, key) => (value as Record<string, unknown>)[key],
    rule,
  ) as Condition
}

function write(rule: CheckedRule, path: string, condition: Condition): void {
  const segments = segmentsOf(path)
  const holder = segments
    .slice(0, -1)
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], rule)
  ;(holder as Record<string, unknown>)[segments.at(-1) as string] = condition
}
