import { type Fault, isEventType } from '@automation/engine'

interface RuleBodyFaults {
  /** Of the shape, and of patterns, placeholders and limits. */
  faults: Fault[]
  /** The API reports it with a status of its own, once there are no other faults. */
  unknownTrigger: Fault | undefined
}

/**
 * Collects all faults of a rule's body, of a request or of an item in a file.
 *
 * @param shapeFaults by the schema of the body
 * @param ruleFaults of its definition (findRuleFaults of the engine)
 */
export function findRuleBodyFaults(
  body: { trigger?: unknown },
  shapeFaults: Fault[],
  ruleFaults: Fault[],
): RuleBodyFaults {
  const isUnknown = typeof body.trigger === 'string' && !isEventType(body.trigger)
  return {
    faults: [...shapeFaults, ...ruleFaults],
    unknownTrigger: isUnknown ? { field: 'trigger', message: 'Invalid trigger type' } : undefined,
  }
}
