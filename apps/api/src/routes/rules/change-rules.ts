import { isDeepStrictEqual } from 'node:util'
import { type Change, cancelWaitingRuns, changeRules as changeRulesAs } from '@automation/administration'
import type { Prisma, WorkspaceTransaction } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { administratorOf } from '../../administrator.js'
import { refusals } from '../../errors.js'
import { type DefinitionFields, definitionOf, type RuleFields, type RuleRow } from './present-rule.js'

const maxRules = 1_000

/** Every change of rules that a request asks for (packages/administration/src/rules.ts). */
export function changeRules<Result>(
  request: FastifyRequest,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
): Promise<Result> {
  return changeRulesAs(administratorOf(request), change)
}

/** The rule to change. @throws refusals: 404 where it is not there, 412 where `If-Match` names another version */
export async function findRuleToChange(
  transaction: WorkspaceTransaction,
  request: FastifyRequest,
  id: string,
): Promise<RuleRow> {
  const rule = await transaction.rule.findUnique({ where: { id }, include: { counters: true } })
  if (rule === null) throw refusals.ruleNotFound()
  refuseOtherVersion(request, rule.version)
  return rule
}

export async function refuseOneTooMany(transaction: WorkspaceTransaction): Promise<void> {
  if ((await transaction.rule.count()) >= maxRules) throw refusals.tooManyRules(maxRules)
}

/**
 * Saves those of the fields that differ, and what follows from it. A changed definition is a new version; switching off
 * cancels what waits; a rule that is changed or switched on has had its attention, and one that is switched on begins
 * anew to count its failures in a row.
 *
 * @returns the rule as it is then, the names of what has changed, and how many runs were cancelled by switching it off
 */
export async function saveRule(
  transaction: WorkspaceTransaction,
  { workspace: { actor } }: FastifyRequest,
  found: RuleRow,
  fields: Partial<RuleFields>,
): Promise<{ rule: RuleRow; changed: string[]; cancelled?: number }> {
  const changed = listChanges(found, fields)
  if (changed.length === 0) return { rule: found, changed }
  const isNewVersion = changed.some((name) => name !== 'isActive')
  const isSwitchedOn = changed.includes('isActive') && !found.isActive
  const isSwitchedOff = changed.includes('isActive') && found.isActive

  const version = found.version + 1
  const rule = await transaction.rule.update({
    where: { id: found.id },
    data: {
      ...(fields as Prisma.RuleUncheckedUpdateInput),
      ...(isNewVersion ? { version, versions: newVersion({ ...found, ...fields, version }, actor) } : {}),
    },
    include: { counters: true },
  })
  if (isNewVersion || isSwitchedOn) await clearAttention(transaction, found.id, isSwitchedOn)
  if (!isSwitchedOff) return { rule, changed }
  return {
    rule,
    changed,
    cancelled: await cancelWaitingRuns(transaction, found, 'The rule was switched off'),
  }
}

/** The row of a definition's version, to be written with the rule. */
export function newVersion(
  rule: DefinitionFields & { workspaceId: string; version: number },
  createdBy: string,
) {
  const { conditions, actions, ...texts } = definitionOf(rule)
  return {
    create: {
      ...texts,
      conditions: conditions as Prisma.InputJsonValue,
      actions: actions as Prisma.InputJsonValue,
      version: rule.version,
      workspaceId: rule.workspaceId,
      createdBy,
    },
  }
}

async function clearAttention(
  transaction: WorkspaceTransaction,
  ruleId: string,
  isSwitchedOn: boolean,
): Promise<void> {
  await transaction.ruleCounters.updateMany({
    where: { ruleId },
    data: {
      attentionReason: null,
      attentionAt: null,
      ...(isSwitchedOn ? { consecutiveFailures: 0 } : {}),
    },
  })
}

/** The names of the fields that differ, whatever the order of keys in their values. */
function listChanges(rule: RuleRow, fields: Record<string, unknown>): string[] {
  return Object.entries(fields)
    .filter(([name, value]) => !isDeepStrictEqual(rule[name as keyof RuleRow], value))
    .map(([name]) => name)
}

/** RFC 9110: a strong comparison with each entity tag of the list; `*` fits every rule that exists. */
function refuseOtherVersion(request: FastifyRequest, version: number): void {
  const header = request.headers['if-match']
  if (header === undefined || header.trim() === '*') return
  if (!header.split(',').some((tag) => tag.trim() === `"${version}"`)) throw refusals.versionMismatch()
}
