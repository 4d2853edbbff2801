import { checkRules, type Finding, type ObservedFields } from '@automation/check'
import { type CheckedRule, WorkBudget } from '@automation/engine'
import { findDefinitionFaults } from './editing/find-definition-faults.js'
import type { Definition } from './rule-definition.js'

export type { Finding }

interface Circumstances {
  /** epoch ms */
  now: number
  observed: ObservedFields | undefined
  /** The rules that the definition is compared with. */
  others: readonly CheckedRule[]
  /** Lets the browser draw and handle keys. @returns false where the result is no longer wanted */
  turn: () => Promise<boolean>
}

/** How long (ms) rules are compared before the browser has a turn. */
const sliceMs = 8
/** How long (ms) one rule, or one pair, may hold the page. What is not known by then is no finding. */
const maxCheckMs = 500

/**
 * The check of the service, of a definition: by itself, and with each rule that it may get in the way of. So loops of three rules and
 * more are found by the check of the whole set alone.
 *
 * @returns undefined where nobody waits for it any more
 */
export async function checkDefinition(
  definition: Definition,
  { now, observed, others, turn }: Circumstances,
): Promise<Finding[] | undefined> {
  const rule = readRule(definition)
  if (rule === undefined) return []
  // What was seen is of its trigger, and says nothing of the events that a WAIT waits for.
  const findObserved = (type: string) => (type === definition.trigger ? observed : undefined)
  const own = checkRules([rule], { now, findObserved, budget: openBudget() }).findings
  // An unfinished action is left out, so that the places of the others are not those of the form.
  if (rule.actions.length < definition.actions.length)
    return own.filter(({ path }) => !path.startsWith('actions'))
  const findings = [...own]
  let begunAt = performance.now()
  for (const other of others.filter((one) => canMeet(rule, one))) {
    if (performance.now() - begunAt > sliceMs) {
      if (!(await turn())) return undefined
      begunAt = performance.now()
    }
    const { findings: found } = checkRules([rule, other], { now, budget: openBudget() })
    findings.push(...found.filter((one) => one.others.length > 0))
  }
  return findings
}

function openBudget(): WorkBudget {
  return new WorkBudget({ units: Number.POSITIVE_INFINITY, ms: maxCheckMs }, () => performance.now())
}

/** The definition as far as it can be checked; undefined where its conditions are not complete. */
function readRule(definition: Definition): CheckedRule | undefined {
  const faults = findDefinitionFaults(definition)
  const isFaulty = (path: string) => faults.some(({ field }) => field.startsWith(path))
  if (isFaulty('conditions')) return undefined
  const actions = definition.actions.filter((_, index) => !isFaulty(`actions[${index}]`))
  return { group: null, order: null, ...definition, actions } as unknown as CheckedRule
}

/** Rules of one trigger, or two that may emit each other's events. */
function canMeet(rule: CheckedRule, other: CheckedRule): boolean {
  if (other.isActive === false) return false
  return rule.trigger === other.trigger || (emits(rule, other.trigger) && emits(other, rule.trigger))
}

function emits({ actions }: CheckedRule, type: string): boolean {
  return actions.some((action) => action.type === 'EMIT_EVENT' && action.config.eventType === type)
}
