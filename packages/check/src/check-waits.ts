import { type CheckedRule, readDeclared } from '@automation/engine'
import { findNever, minEvents } from './check-observed.js'
import type { CheckFindings } from './finding.js'
import { type SeenFields, writeCount } from './observed.js'

/**
 * Compares what the WAITs of a rule wait for with the events that were seen.
 *
 * @param emitted the types of events that rules emit
 */
export function checkWaits(
  { trigger, actions }: CheckedRule,
  index: number,
  seenOf: (type: string) => SeenFields | undefined,
  { emitted, report }: { emitted: ReadonlySet<string>; report: CheckFindings },
): void {
  for (const place of readDeclared(actions).waits) {
    const action = actions[place]
    if (action?.type !== 'WAIT' || action.config.for === undefined) continue
    const { eventType, match } = action.config.for
    const path = `actions[${place}].config.for`
    const seen = seenOf(eventType)
    // Where hardly anything was sent yet, the absence of a type says nothing.
    const events = seenOf(trigger)?.events ?? 0
    if (seen?.events === 0 && events >= minEvents && !emitted.has(eventType))
      report.find(
        'unseen_event_type',
        index,
        `${path}.eventType`,
        `There are ${writeCount(events)} ${trigger} events and none of type ${eventType}, and no rule emits one. Without one, time ends the WAIT.`,
      )
    for (const name of Object.keys(match)) {
      const never = seen && findNever(name, seen)
      if (never !== undefined) report.find('unknown_field', index, `${path}.match`, `${name} ${never}`)
    }
  }
}

/** The types of events that rules emit. */
export function listEmitted(rules: readonly CheckedRule[]): Set<string> {
  const all = rules.flatMap(({ actions }) => actions)
  return new Set(all.flatMap(({ type, config }) => (type === 'EMIT_EVENT' ? config.eventType : [])))
}
