import { isDeepStrictEqual } from 'node:util'
import type { Change } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import {
  type DefinitionToCheck,
  type Fault,
  findPerKeyFaults,
  findRuleFaults,
  pickToCheck,
} from '@automation/engine'
import {
  changeRules,
  findGroupFaults,
  findTriggerFaults,
  isShadow,
  type RuleFields,
  type Saved,
  saveRules,
  settleGroup,
  settleSchedule,
  updatedEntry,
} from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { isTagRefused } from '../../etag.js'
import { findFaults, isCheapToCheck, refuseFaults } from './check-rule.js'
import type { RuleRow } from './present-rule.js'

/** Every change of rules that a request asks for (packages/rules/src/change-rules.ts). */
export function changeRulesOfRequest<Result>(
  request: FastifyRequest,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
): Promise<Result> {
  return changeRules(administratorOf(request), change)
}

/**
 * Updates fields. Each of them was checked alone before. Some limits hold for the whole rule, so they are checked here, even if
 * only one field was sent. A transaction must not wait for the evaluator: where the check needs it, the transaction ends without a
 * change, and begins again with the faults.
 */
export async function updateRule(
  request: FastifyRequest,
  id: string,
  fields: Partial<RuleFields>,
): Promise<RuleRow> {
  let checked: { definition: DefinitionToCheck; faults: Fault[] } | undefined
  for (;;) {
    const outcome = await changeRulesOfRequest<{ rule: RuleRow } | { unchecked: DefinitionToCheck }>(
      request,
      async (transaction) => {
        const found = await findRuleToChange(transaction, request, id)
        if (isShadow(found) && fields.isActive === true && fields.mode === undefined)
          refuseFaults([{ field: 'isActive', message: 'The rule is in shadow mode: also set mode to live' }])
        const whole = { ...found, ...settleSchedule(settleGroup(fields)) }
        refuseFaults([...findGroupFaults(whole), ...findTriggerFaults(whole), ...findPerKeyFaults(whole)])
        const definition = pickToCheck(whole)
        if (isCheapToCheck(request, definition)) refuseFaults(findRuleFaults(definition))
        else if (checked && isDeepStrictEqual(checked.definition, definition)) refuseFaults(checked.faults)
        else return { result: { unchecked: definition }, entry: undefined }
        const saved = await saveRule(transaction, request, found, fields)
        return { result: { rule: saved.rule }, entry: updatedEntry(saved) }
      },
    )
    if ('rule' in outcome) return outcome.rule
    checked = { definition: outcome.unchecked, faults: await findFaults(request, outcome.unchecked) }
  }
}

/** The rule to change. @throws refusals: 404 where it is not there, 412 where `If-Match` names another version */
export async function findRuleToChange(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  id: string,
): Promise<RuleRow> {
  const rule = await transaction.rule.findUnique({ where: { id }, include: { counters: true } })
  if (rule === null) throw refusals.ruleNotFound()
  if (isTagRefused(request, `"${rule.version}"`)) throw refusals.versionMismatch()
  return rule
}

/** Saves those of the fields that differ, and what follows from it (packages/rules/src/save-rules.ts). */
export async function saveRule(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  found: RuleRow,
  fields: Partial<RuleFields>,
): Promise<Saved<RuleRow>> {
  const [saved] = await saveRules(transaction, administratorOf(request), [{ found, fields }])
  return saved as Saved<RuleRow>
}
