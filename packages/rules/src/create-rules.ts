import type { Administrator } from '@automation/access'
import { Refused } from '@automation/access'
import { newId, postgresNow, type WorkspaceTransaction } from '@automation/database'
import { createCounters } from '@automation/ledger'
import { refuseUnknownTypes } from './event-types.js'
import { planTicks } from './plan-ticks.js'
import { refuseForeignGroups, refuseToCreate } from './refuse-beyond-grant.js'
import { refuseExcessBytes, refuseExcessVersions } from './refuse-excess.js'
import { definitionColumnsOf, definitionOf, type RuleFields, versionRowOf } from './rule-fields.js'
import { completeMode } from './rule-mode.js'
import { maxRules } from './rule-schemas.js'
import { noteStates } from './rule-states.js'
import { expectMatches } from './silence/expectations.js'
import { refuseManyWaits } from './waited-paths.js'

/**
 * Creates rules, in their order, each with its counters and its first version. It works in the transaction of changeRules, like
 * saveRules and deleteRules. These three are the only writers of definitions; a single rule is a list of one.
 *
 * @throws Refused where the embed session of the author does not include it, and where the workspace would have more than 1,000 rules, or more than 16 MiB of them, or 64 MiB of versions
 */
export async function createRules(
  transaction: WorkspaceTransaction,
  { workspaceId, actor, grant }: Pick<Administrator, 'workspaceId' | 'actor' | 'grant'>,
  inputs: RuleFields[],
) {
  if (inputs.length === 0) return []
  for (const fields of inputs) refuseToCreate(grant, fields)
  if ((await transaction.rule.count()) + inputs.length > maxRules)
    throw new Refused('limit_reached', `A workspace may have ${maxRules} rules`)
  await refuseUnknownTypes(transaction, inputs)
  const now = new Date(postgresNow())
  const rules = inputs.map((fields) => ({
    id: newId(),
    workspaceId,
    ...definitionOf(fields),
    ...completeMode(fields),
    expectEvery: fields.expectEvery ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }))
  await refuseForeignGroups(
    transaction,
    grant,
    rules.map((rule) => ({ rule })),
  )
  await transaction.rule.createMany({
    data: rules.map((rule) => ({ ...rule, ...definitionColumnsOf(rule) })),
  })
  const ids = rules.map(({ id }) => id)
  await noteStates(transaction, workspaceId, ids)
  await createCounters(transaction, workspaceId, ids)
  await expectMatches(transaction, workspaceId, rules)
  const versions = rules.map((rule) => versionRowOf(rule, actor, now))
  await transaction.ruleVersion.createMany({ data: versions })
  await refuseManyWaits(transaction, workspaceId, versions)
  await refuseExcessBytes(transaction, workspaceId)
  await refuseExcessVersions(transaction, workspaceId)
  const planned = await planTicks(
    transaction,
    workspaceId,
    rules.filter(({ schedule }) => schedule !== null),
  )
  return rules.map((rule) => ({ ...rule, nextRunAt: planned.get(rule.id) ?? null }))
}
