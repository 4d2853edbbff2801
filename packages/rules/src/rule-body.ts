import { type Fault, findRuleFaults, isEventType } from '@automation/engine'

interface RuleBodyFaults {
  /** Of the shape, and of patterns, placeholders and limits. */
  faults: Fault[]
  /** The API reports it with a status of its own, once there are no other faults. */
  unknownTrigger: Fault | undefined
}

/**
 * Finds all faults of a rule's body, of a request or of an item in a file.
 *
 * @param shapeFaults by the schema of the body
 */
export function findRuleBodyFaults(
  body: { trigger?: unknown; conditions?: unknown; actions?: unknown },
  shapeFaults: Fault[],
): RuleBodyFaults {
  const isUnknown = typeof body.trigger === 'string' && !isEventType(body.trigger)
  return {
    faults: [...shapeFaults, ...findRuleFaults(body)],
    unknownTrigger: isUnknown ? { field: 'trigger', message: 'Invalid trigger type' } : undefined,
  }
}
