import { isDeepStrictEqual } from 'node:util'
import { type Change, changeWorkspace } from '@automation/administration'
import type { WorkspaceTransaction } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { administratorOf } from '../../administrator.js'
import { refusals } from '../../errors.js'
import type { RuleRow } from './present-rule.js'

const maxRules = 1_000

/**
 * Every change of a workspace's rules goes through here, and happens one after another. It counts up `rulesVersion`: a
 * worker that meets a higher version than the one it compiled reads the rules again. Both are seen together, at the
 * commit, and so is the entry in the audit log.
 */
export function changeRules<Result>(
  request: FastifyRequest,
  change: (transaction: WorkspaceTransaction) => Promise<Change<Result>>,
): Promise<Result> {
  return changeWorkspace(administratorOf(request), async (transaction) => {
    await transaction.workspace.update({
      where: { id: request.workspace.id },
      data: { rulesVersion: { increment: 1 } },
      select: { id: true },
    })
    return change(transaction)
  })
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

/** The names of the fields that differ, whatever the order of keys in their values. */
export function listChanges(rule: RuleRow, fields: Record<string, unknown>): string[] {
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
