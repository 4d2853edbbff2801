import {
  type CheckedRule,
  type Fault,
  findCredentialWarnings,
  findDoubtfulForms,
  findUnknownZone,
  type KnownCredential,
  normaliseRule,
  unlimitedBudget,
  type WorkBudget,
} from '@automation/engine'
import { checkGroups } from './check-groups.js'
import { checkLoops } from './check-loops.js'
import { checkObserved } from './check-observed.js'
import { PairCheck } from './check-pairs.js'
import { checkRule } from './check-rule.js'
import { checkWaits, listEmitted } from './check-waits.js'
import { severities } from './codes.js'
import { CheckFindings, type CheckResult, type Finding } from './finding.js'
import { type FindObserved, type ObservedFields, SeenFields } from './observed.js'
import { noteRecorded } from './recorded-parts.js'

export interface CheckOptions {
  /** Epoch ms: findings are true from then on. */
  readonly now: number
  /** Without it nothing is compared with events that were seen. */
  readonly findObserved?: FindObserved
  /** Of the workspace. Without them nothing is said of credentials. */
  readonly credentials?: readonly KnownCredential[] | undefined
  /** To it all work is charged. What it does not reach is in `notKnown`. Default: without end. */
  readonly budget?: WorkBudget
  /** Indexes of rules that are not looked at, with the fault of a stored rule. */
  readonly skipped?: ReadonlyMap<number, Fault | undefined>
}

/**
 * Checks a set of rules: each by itself, groups, those of one trigger with one another, and chains of EMIT_EVENT. The rules have no faults.
 * A finding is true: it was proven with the operators of the engine, or it has an event that the engine confirms. What could not be
 * decided is in `notKnown`.
 */
export function checkRules(
  rules: readonly CheckedRule[],
  { now, findObserved, credentials, budget = unlimitedBudget(), skipped }: CheckOptions,
): CheckResult {
  const all = rules.map((rule) => ({
    ...rule,
    ...normaliseRule({ conditions: rule.conditions, actions: rule.actions }),
  }))
  all.forEach(noteRecorded)
  const report = new CheckFindings(all, budget)
  const seenOf = createSeen(findObserved)
  const emitted = listEmitted(all)
  const compared = all.flatMap((rule, index) => {
    const zone = rule.schedule ? findUnknownZone(rule.schedule) : undefined
    if (zone !== undefined)
      report.find('unknown_zone', index, 'schedule.timezone', `Has no ticks: ${zone} is no IANA time zone.`)
    if (budget.isOver || skipped?.has(index)) {
      const { field, message } = skipped?.get(index) ?? { field: 'conditions', message: undefined }
      report.leaveOpen('never_matches', index, field, message === undefined ? unreached : refused(message))
      return []
    }
    const canMatch = checkRule(rule, index, now, report)
    for (const { field, message } of findDoubtfulForms(rule))
      report.find('doubtful_form', index, field, message)
    for (const { field, message } of credentials ? findCredentialWarnings(rule.actions, credentials) : [])
      report.find('unusable_credential', index, field, message)
    const seen = seenOf(rule.trigger)
    if (seen !== undefined) checkObserved(rule, index, seen, report)
    checkWaits(rule, index, seenOf, { emitted, report })
    return canMatch && rule.isActive !== false ? [index] : []
  })
  checkGroups(all, compared, now, report)
  const byTrigger = new Map<string, number[]>()
  for (const index of compared) {
    const { trigger } = all[index] as CheckedRule
    byTrigger.set(trigger, [...(byTrigger.get(trigger) ?? []), index])
  }
  for (const indexes of byTrigger.values())
    new PairCheck(
      indexes.map((index) => [index, all[index] as CheckedRule] as const),
      now,
      report,
    ).run()
  checkLoops(all, compared, now, report)
  return { findings: report.findings.sort(byWeight), notKnown: report.notKnown }
}

/** What checkRules says of one rule beside the events that were seen, and nothing else. */
export function compareWithEvents(rule: CheckedRule, observed: ObservedFields): Finding[] {
  const report = new CheckFindings([rule], unlimitedBudget())
  checkObserved(rule, 0, new SeenFields(rule.trigger, observed), report)
  return report.findings
}

/** Reads what was observed of a type once, however many rules it has. */
function createSeen(findObserved: FindObserved | undefined): (type: string) => SeenFields | undefined {
  const seen = new Map<string, SeenFields | undefined>()
  return (type) => {
    if (!seen.has(type)) {
      const observed = findObserved?.(type)
      seen.set(type, observed && new SeenFields(type, observed))
    }
    return seen.get(type)
  }
}

function refused(message: string): string {
  return `The stored rule is invalid: ${message}`
}

const unreached = 'The check reached its time or evaluation limit before this rule'

type Weighed = CheckResult['findings'][number]

/** The most severe first, then in the order of the rules. */
function byWeight(one: Weighed, other: Weighed): number {
  return (
    severities.indexOf(other.severity) - severities.indexOf(one.severity) || one.rule.index - other.rule.index
  )
}
