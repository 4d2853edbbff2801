import {
  describeUnknownType,
  type Fault,
  findPerKeyFaults,
  findScheduleFaults,
  isTrigger,
} from '@automation/engine'
import { findEmitFaults } from './own-names.js'
import type { RuleFields } from './rule-fields.js'
import { findGroupFaults } from './rule-group.js'
import { findModeFaults } from './rule-mode.js'
import { findTriggerFaults } from './rule-schedule.js'
import { findExpectationFaults } from './silence/find-expectation-faults.js'

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
 * @param ownTypes the event types of the workspace's own; those of the catalogue need not be looked up (listOwnNames)
 * @param isPart the fields that it lacks stay as they are
 */
export function findRuleBodyFaults(
  body: { [Field in keyof RuleFields]?: unknown },
  shapeFaults: Fault[],
  ruleFaults: Fault[],
  ownTypes: ReadonlySet<string>,
  isPart = false,
): RuleBodyFaults {
  const { trigger } = body
  const isUnknown = typeof trigger === 'string' && !isTrigger(trigger) && !ownTypes.has(trigger)
  return {
    faults: [
      ...shapeFaults,
      ...ruleFaults,
      ...findEmitFaults(body, ownTypes),
      ...findModeFaults(body),
      ...findPerKeyFaults(body),
      ...findExpectationFaults(body),
      ...(isPart
        ? findScheduleFaults(body.schedule)
        : [...findGroupFaults(body), ...findTriggerFaults(body)]),
    ],
    unknownTrigger: isUnknown ? faultOf(trigger) : undefined,
  }
}

function faultOf(trigger: string): Fault {
  return { field: 'trigger', message: `Invalid trigger type. ${describeUnknownType(trigger)}` }
}
