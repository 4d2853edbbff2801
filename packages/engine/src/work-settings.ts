import { Type } from 'typebox'
import { defaultWorkLimits, type WorkLimits } from './evaluation.js'

/** What it may cost to evaluate conditions. The API needs the same values as the workers: a dry run ends as the event would. */
export const workSettings = {
  RULE_WORK: Type.Integer({
    default: defaultWorkLimits.rule,
    minimum: 10_000,
    maximum: 1_000_000_000,
    description:
      'units of work (25 ns or less) that the conditions of one rule may cost per event; a pattern costs up to its size times the length of its text',
  }),
  EVENT_WORK: Type.Integer({
    default: defaultWorkLimits.event,
    minimum: 10_000,
    maximum: 10_000_000_000,
    description: 'units of work that the conditions of all rules may cost per event',
  }),
}

/** The same settings under the names that the code uses. */
export function workLimitsOf(environment: Type.Static<Type.TObject<typeof workSettings>>): WorkLimits {
  return { rule: environment.RULE_WORK, event: environment.EVENT_WORK }
}
