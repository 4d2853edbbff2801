import type { EventType, RuleToCreate, TriggerResult, ValidatedRule } from './api.js'
import type { RequestOptions, Sender } from './send.js'

export interface DryRunOfEventOptions extends RequestOptions {
  /** Adds the `trace` of each rule: each clause and its verdict. */
  explain?: boolean | undefined
}

/** What each active rule would do for an event. */
export async function dryRunEvent(
  sender: Sender,
  eventType: EventType,
  data: object,
  { explain, ...options }: DryRunOfEventOptions = {},
): Promise<TriggerResult> {
  const name = 'POST /api/automation-rules/trigger/{eventType}'
  const body = { data: data as Record<string, unknown>, dryRun: true }
  const query = explain === undefined ? {} : { explain }
  const answer = await sender.send(name, { path: { eventType }, query, body }, options)
  return answer.body as TriggerResult
}

/** Checks a rule as its creation does. @returns the rule as it would be saved, and warnings */
export function validateRule(
  sender: Sender,
  rule: RuleToCreate,
  options?: RequestOptions,
): Promise<ValidatedRule> {
  return sender.ask('POST /api/automation-rules/validate', { body: rule }, options)
}
