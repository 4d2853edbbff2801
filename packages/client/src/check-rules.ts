import type { RuleToCreate } from './api.js'
import type { RequestOptions, Sender } from './send.js'

/** Checks rules, or those of the workspace where none are given: findings, and what could not be decided. */
export function checkRules(sender: Sender, rules: RuleToCreate[] | undefined, options?: RequestOptions) {
  return sender.ask(
    'POST /api/automation-rules/check',
    { body: rules === undefined ? {} : { rules } },
    options,
  )
}
