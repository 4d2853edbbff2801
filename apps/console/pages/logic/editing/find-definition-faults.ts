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

/** What the service would refuse in the conditions and actions of a rule, in its words, found while somebody types. */
export function findDefinitionFaults({ conditions, actions, perKey }: Definition): DefinitionFault[] {
  const part = { conditions, actions }
  return [...limitFaults(findShapeFaults(part)), ...findRuleFaults({ ...part, perKey })].map((fault) => ({
    ...fault,
    isUnfinished: isNothing(readAt(part, fault.field)),
  }))
}

function readAt(part: object, field: string): unknown {
  return parsePath(field) === undefined ? part : readPath(compilePath(field), part)
}

function isNothing(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || value === null || (Array.isArray(value) && value.every((one) => one === null))
}
