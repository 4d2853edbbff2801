import { findDefinitionFaults as findFaults } from '@automation/rules/find-definition-faults'
import type { Definition } from '../rule-definition.js'
import { type DefinitionFault, markUnfinished } from './find-condition-faults.js'

/** What the service would refuse in a rule, in its words, found while somebody types. A file of its own: schedules need a parser. */
export function findDefinitionFaults(definition: Definition): DefinitionFault[] {
  return markUnfinished(definition, findFaults(definition))
}
