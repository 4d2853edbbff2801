import { readWaitedPaths } from '@automation/engine'

/** A check looks at so many events of each type, the newest ones. */
export const observedEvents = 1_000
/** What it may take to find them among those of other types. */
export const observationLimits = { events: 50_000, ms: 500 }
const maxTypes = 20
const maxMs = 2_000

/** The types of events that a rule is compared with: its trigger, and those that its WAITs wait for. */
export function typesOf({ trigger, actions }: { trigger: string; actions: unknown }): string[] {
  const waited = readWaitedPaths(actions).map(({ type }) => type)
  return [trigger, ...waited.filter((type) => typeof type === 'string')]
}

/**
 * Surveys stored events for the check of a set of rules, those of the most frequent type first. Beyond 20 types or 2 s, and
 * from the first survey that has no result, rules are not compared with events.
 *
 * @param types of all rules
 */
export async function observeTypes<Observed>(
  types: readonly string[],
  survey: (type: string) => Promise<Observed | undefined>,
): Promise<Record<string, Observed>> {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  const frequent = [...counts].sort(([, one], [, other]) => other - one).map(([type]) => type)
  const startedAt = performance.now()
  const observed: Record<string, Observed> = {}
  for (const type of frequent.slice(0, maxTypes)) {
    if (performance.now() - startedAt > maxMs) break
    const seen = await survey(type)
    if (seen === undefined) break
    observed[type] = seen
  }
  return observed
}
