import { type CheckedRule, isReady, type ReadyAction, type RulePlan } from '@automation/engine'
import { listActionPlaceholders } from './placeholders.js'

type Action = CheckedRule['actions'][number]

/** An action of a rule. */
export interface PlacedAction {
  readonly rule: CheckedRule
  readonly action: number
}

/** The action with this index, if it is done: a fault of an action before it stops the rule, as in an execution. */
export function findDone({ actions }: RulePlan, index: number): ReadyAction | undefined {
  const isStopped = actions
    .slice(0, index)
    .some((planned) => 'fault' in planned && !planned.of.continueOnError)
  const planned = actions[index]
  return planned !== undefined && !isStopped && isReady(planned) ? planned : undefined
}

/**
 * Whether an action is done for every event for which another one with the same effect is, if the conditions of both hold. All that
 * can stop it has to stop the other one as well.
 */
export function isDoneWith(one: PlacedAction, other: PlacedAction): boolean {
  const [before, beforeOther] = [listBefore(one), listBefore(other)]
  const length =
    before.findLastIndex((action) => !action.continueOnError && listRiskyFields(action).length > 0) + 1
  if (!before.slice(0, length).every((action, n) => isSame(action, beforeOther[n]))) return false
  const [config, otherConfig] = [configOf(one), configOf(other)]
  return listRiskyFields(actionOf(one)).every((field) => isSame(config[field], otherConfig[field]))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

export function actionOf({ rule, action }: PlacedAction): Action {
  return rule.actions[action] as Action
}

function listBefore({ rule, action }: PlacedAction): readonly Action[] {
  return rule.actions.slice(0, action)
}

function configOf(placed: PlacedAction): Record<string, unknown> {
  return actionOf(placed).config as Record<string, unknown>
}

/** Fields that may hold any JSON. As a whole, variables and data have to be objects. */
const freeFields: Partial<Record<Action['type'], string>> = {
  SEND_EMAIL: 'variables',
  SEND_WEBHOOK: 'body',
  EMIT_EVENT: 'data',
}

const known = new WeakMap<Action, readonly string[]>()

/** The fields whose placeholders can make the config faulty: an address may be missing, and a title too long. */
function listRiskyFields(action: Action): readonly string[] {
  let fields = known.get(action)
  if (fields === undefined) {
    const holdsAnything = (field: string, place: string) =>
      field === freeFields[action.type] && (action.type === 'SEND_WEBHOOK' || place !== `.config.${field}`)
    const risky = listActionPlaceholders(action, '').filter(
      ({ field, place }) => !holdsAnything(field, place),
    )
    fields = [...new Set(risky.map(({ field }) => field))]
    known.set(action, fields)
  }
  return fields
}
