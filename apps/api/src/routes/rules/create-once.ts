import type { Change } from '@automation/administration'
import type { WorkspaceTransaction } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import type { Answer } from '../../idempotency/answer.js'
import { claimKey, KeyTaken, keepAnswer } from '../../idempotency/claim-key.js'
import { findAnswer } from '../../idempotency/find-answer.js'
import { readRequestKey } from '../../idempotency/request-key.js'
import { changeRules } from './change-rules.js'
import { presentRule, type RuleRow } from './present-rule.js'

/**
 * Makes a rule and answers it. Under an Idempotency-Key it is made once: the key is taken and its answer kept in the
 * transaction that makes the rule, so there is no moment at which one is without the other.
 */
export async function createOnce(
  request: FastifyRequest,
  create: (transaction: WorkspaceTransaction) => Promise<Change<RuleRow>>,
): Promise<Answer> {
  const key = readRequestKey(request)
  if (key === undefined) return tellCreated(await changeRules(request, create))
  // Most of those that come again come later, and then nobody has to be waited for.
  const known = await findAnswer(request, key)
  if (known !== undefined) return known
  try {
    return await changeRules(request, async (transaction) => {
      await claimKey(transaction, key)
      const { result, entry } = await create(transaction)
      const answer = tellCreated(result)
      await keepAnswer(transaction, key, answer)
      return { result: answer, entry }
    })
  } catch (error) {
    if (error instanceof KeyTaken) return createOnce(request, create)
    throw error
  }
}

function tellCreated(rule: RuleRow): Answer {
  return {
    status: 201,
    headers: { location: `/api/automation-rules/${rule.id}`, etag: `"${rule.version}"` },
    body: presentRule(rule),
  }
}
