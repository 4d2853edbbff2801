import { compileShape, type Fault, findRuleFaults, limitFaults } from '@automation/engine'
import { assumeOwnTypes } from './own-names.js'
import { findRuleBodyFaults } from './rule-body.js'
import { RuleToCreate } from './rule-schemas.js'

const findShapeFaults = compileShape(RuleToCreate)

/**
 * All faults of a rule that no request has brought, in the words of the API: of an item of a file, and of a form that somebody fills in. It needs
 * neither server nor database, so it runs in a browser, too.
 *
 * @param ownTypes the event types of the workspace's own; undefined where the workspace is not known
 * @param findFaults of its conditions and actions
 */
export function findDefinitionFaults(
  rule: unknown,
  ownTypes?: ReadonlySet<string>,
  findFaults: (rule: object) => Fault[] = findRuleFaults,
): Fault[] {
  const body: Record<string, unknown> = typeof rule === 'object' && rule !== null ? { ...rule } : {}
  const { faults, unknownTrigger } = findRuleBodyFaults(
    body,
    limitFaults(findShapeFaults(rule)),
    findFaults(body),
    ownTypes ?? assumeOwnTypes(body),
  )
  return unknownTrigger ? [...faults, unknownTrigger] : faults
}
