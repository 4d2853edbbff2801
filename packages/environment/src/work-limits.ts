import { Type } from 'typebox'

/** What it may cost to judge conditions. The API needs the same values as the workers: a dry run ends as the event would. */
export const workLimits = {
  RULE_WORK: Type.Integer({
    default: 2_000_000,
    minimum: 10_000,
    maximum: 1_000_000_000,
    description:
      'units of work (25 ns or less) that the conditions of one rule may cost per event; a pattern costs up to its size times the length of its text',
  }),
  EVENT_WORK: Type.Integer({
    default: 6_000_000,
    minimum: 10_000,
    maximum: 10_000_000_000,
    description: 'units of work that the conditions of all rules may cost per event',
  }),
}

/** The same settings under the names that the code uses. */
export function workLimitsOf(environment: Type.Static<Type.TObject<typeof workLimits>>) {
  return { rule: environment.RULE_WORK, event: environment.EVENT_WORK }
}
