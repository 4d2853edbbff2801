import { type CheckResult, checkRules } from '@automation/check'
import { type CheckedRule, WorkBudget } from '@automation/engine'
import type { RuleFile } from '@automation/rules'

/** A thousand rules take some seconds. What the check does not reach by then is in `notKnown`. */
const maxMs = 30_000

/** Without events and credentials: those are of a workspace. */
export function checkFileRules(rules: RuleFile['rules']): CheckResult {
  const bounds = { units: Number.POSITIVE_INFINITY, ms: maxMs }
  const budget = new WorkBudget(bounds, () => performance.now())
  return checkRules(rules as unknown as CheckedRule[], { now: Date.now(), budget })
}
