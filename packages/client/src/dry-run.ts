import type { EventType, RuleToCreate, TriggerResult, ValidatedRule } from './api.js'
import type { Inputs } from './operation.js'
import type { RequestOptions, Sender } from './send.js'

type Given = NonNullable<Inputs<'POST /api/automation-rules/{id}/execute'>['body']>

/** How the calls of a dry run are assumed to end, since none is made. */
export interface AssumedCalls {
  /** What responses are assumed to have, by the names in `capture`. */
  captured?: Given['captured']
  /** How calls are assumed to end, by the names of their actions. */
  actions?: Given['actions']
}

export function writeAssumed({ captured, actions }: AssumedCalls) {
  return { ...(captured && { captured }), ...(actions && { actions }) }
}

export interface DryRunOfEventOptions extends RequestOptions, AssumedCalls {
  /** Adds the `trace` of each rule: each clause and its verdict. */
  explain?: boolean | undefined
}

/** What each active rule would do for an event. */
export async function dryRunEvent(
  sender: Sender,
  eventType: EventType,
  data: object,
  { explain, captured, actions, ...options }: DryRunOfEventOptions = {},
): Promise<TriggerResult> {
  const name = 'POST /api/automation-rules/trigger/{eventType}'
  const given = writeAssumed({ captured, actions })
  const body = { data: data as Record<string, unknown>, dryRun: true, ...given }
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
