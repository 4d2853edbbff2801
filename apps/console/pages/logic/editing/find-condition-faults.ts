import {
  compilePath,
  compileShape,
  type Fault,
  findRuleFaults,
  limitFaults,
  parsePath,
  RuleDefinition,
  readPath,
} from '@automation/engine'
import type { Definition } from '../rule-definition.js'

/** A fault that would refuse the rule. */
export interface DefinitionFault extends Fault {
  /** Nothing was filled in there yet: it is asked for, and not called wrong. */
  isUnfinished: boolean
}

const findShapeFaults = compileShape(RuleDefinition)

/** What the service would refuse in the conditions of a rule: while there is a fault, they have no result. */
export function findConditionFaults(definition: Definition): DefinitionFault[] {
  const { conditions, actions } = definition
  const faults = [...limitFaults(findShapeFaults({ conditions, actions })), ...findRuleFaults(definition)]
  return markUnfinished(
    definition,
    faults.filter(({ field }) => field.startsWith('conditions')),
  )
}

export function markUnfinished(definition: Definition, faults: readonly Fault[]): DefinitionFault[] {
  return faults.map((fault) => ({ ...fault, isUnfinished: isNothing(readAt(definition, fault.field)) }))
}

function readAt(definition: object, field: string): unknown {
  return parsePath(field) === undefined ? definition : readPath(compilePath(field), definition)
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || value === null || (Array.isArray(value) && value.every((one) => one === null))
}
