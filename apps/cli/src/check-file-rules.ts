import { type CheckedRule, type CheckResult, checkRules, type ObservedFields } from '@automation/check'
import type { RuleFile } from '@automation/rules'

/** @param observed what was observed of stored events, by their type */
export function checkFileRules(
  rules: RuleFile['rules'],
  observed: Readonly<Record<string, ObservedFields>> = {},
): CheckResult {
  const options = { now: Date.now(), findObserved: (type: string) => observed[type] }
  return checkRules(rules as unknown as CheckedRule[], options)
}
