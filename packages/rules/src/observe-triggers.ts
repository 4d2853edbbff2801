import type { CheckedRule } from '@automation/check'

/** A check looks at so many events of each trigger, the newest ones. */
export const observedEvents = 1_000
/** What it may take to find them among those of other types. */
export const observationLimits = { events: 50_000, ms: 500 }
const maxTriggers = 20
const maxMs = 2_000

/**
 * Surveys stored events for the check of a set of rules, those of the most frequent trigger first. Beyond 20 triggers or 2 s, and
 * from the first survey that has no result, rules are not compared with events.
 */
export async function observeTriggers<Observed>(
  rules: readonly Pick<CheckedRule, 'trigger'>[],
  survey: (trigger: string) => Promise<Observed | undefined>,
): Promise<Record<string, Observed>> {
  const counts = new Map<string, number>()
  for (const { trigger } of rules) counts.set(trigger, (counts.get(trigger) ?? 0) + 1)
  const triggers = [...counts].sort(([, one], [, other]) => other - one).map(([trigger]) => trigger)
  const startedAt = performance.now()
  const observed: Record<string, Observed> = {}
  for (const trigger of triggers.slice(0, maxTriggers)) {
    if (performance.now() - startedAt > maxMs) break
    const seen = await survey(trigger)
    if (seen === undefined) break
    observed[trigger] = seen
  }
  return observed
}
