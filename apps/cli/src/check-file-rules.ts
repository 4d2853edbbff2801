import { type CheckedRule, type CheckResult, checkRules, type ObservedFields } from '@automation/check'
import { type KnownCredential, WorkBudget } from '@automation/engine'
import type { RuleFile } from '@automation/rules'

/** A thousand rules take some seconds. What the check does not reach by then is in `notKnown`. */
const maxMs = 30_000

/**
 * @param observed what was observed of stored events, by their type
 * @param credentials of the workspace; undefined where it is not known
 */
export function checkFileRules(
  rules: RuleFile['rules'],
  observed: Readonly<Record<string, ObservedFields>> = {},
  credentials?: readonly KnownCredential[],
): CheckResult {
  const bounds = { units: Number.POSITIVE_INFINITY, ms: maxMs }
  const budget = new WorkBudget(bounds, () => performance.now())
  const findObserved = (type: string) => observed[type]
  return checkRules(rules as unknown as CheckedRule[], {
    now: Date.now(),
    findObserved,
    credentials,
    budget,
  })
}
