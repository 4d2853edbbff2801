import { describeNearest, eventTypes, type Fault, isEventType } from '@automation/engine'

interface RuleBodyFaults {
  /** Of the shape, and of patterns, placeholders and limits. */
  faults: Fault[]
  /** The API reports it with a status of its own where there are no other faults. */
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
  const { trigger } = body
  return {
    faults: [...shapeFaults, ...ruleFaults],
    unknownTrigger: typeof trigger === 'string' && !isEventType(trigger) ? faultOf(trigger) : undefined,
  }
}

function faultOf(trigger: string): Fault {
  const hint = describeNearest(trigger, eventTypes, '/docs/rules#events')
  return { field: 'trigger', message: `Invalid trigger type. ${hint}` }
}
