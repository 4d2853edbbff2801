import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import type { RuleRow } from './present-rule.js'

const maxRules = 1_000

type Transaction = Parameters<Parameters<FastifyRequest['workspace']['database']['$transaction']>[0]>[0]

/**
 * Every change of a workspace's rules goes through here. Counting up `rulesVersion` first locks the workspace's row,
 * so changes of one workspace happen one after another; and a worker that meets a higher version than the one it
 * compiled reads the rules again. Both are seen together, at the commit.
 */
export function changeRules<Result>(
  { id, database }: FastifyRequest['workspace'],
  change: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.$transaction(async (transaction) => {
    await transaction.workspace.update({
      where: { id },
      data: { rulesVersion: { increment: 1 } },
      select: { id: true },
    })
    return change(transaction)
  })
}

/** The rule to change. @throws refusals: 404 where it is not there, 412 where `If-Match` names another version */
export async function findRuleToChange(
  transaction: Transaction,
  request: FastifyRequest,
  id: string,
): Promise<RuleRow> {
  const rule = await transaction.rule.findUnique({ where: { id }, include: { counters: true } })
  if (rule === null) throw refusals.ruleNotFound()
  refuseOtherVersion(request, rule.version)
  return rule
}

export async function refuseOneTooMany(transaction: Transaction): Promise<void> {
  if ((await transaction.rule.count()) >= maxRules) throw refusals.tooManyRules(maxRules)
}

/** True where a value of the definition differs, whatever the order of keys. Switching on or off is no change of it. */
export function changesDefinition(
  rule: RuleRow,
  { isActive: _, ...changes }: Record<string, unknown>,
): boolean {
  return Object.entries(changes).some(
    ([name, value]) => !isDeepStrictEqual(rule[name as keyof RuleRow], value),
  )
}

/** RFC 9110: a strong comparison with each entity tag of the list; `*` fits every rule that exists. */
function refuseOtherVersion(request: FastifyRequest, version: number): void {
  const header = request.headers['if-match']
  if (header === undefined || header.trim() === '*') return
  if (!header.split(',').some((tag) => tag.trim() === `"${version}"`)) throw refusals.versionMismatch()
}
