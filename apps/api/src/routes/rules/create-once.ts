import type { Change } from '@automation/access'
import type { WorkspaceTransaction } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { claimKey, KeyTaken, keepResponse } from '../../acceptance/idempotency/claim-key.js'
import { findResponse } from '../../acceptance/idempotency/find-response.js'
import { findUsedKey, keyTextOf, readRequestKey } from '../../acceptance/idempotency/request-key.js'
import type { StoredResponse } from '../../acceptance/idempotency/stored-response.js'
import { changeRulesOfRequest } from './change-rules.js'
import { presentRule, type RuleRow } from './present-rule.js'

/**
 * Creates a rule of a body that is checked first. A repeat gets its response also where the body names an event type that is gone.
 *
 * @param check @throws the refusal of a faulty body
 */
export async function checkAndCreateOnce<Body>(
  request: FastifyRequest,
  check: () => Promise<Body>,
  create: (transaction: WorkspaceTransaction, body: Body) => Promise<Change<RuleRow>>,
): Promise<StoredResponse> {
  let body: Body
  try {
    body = await check()
  } catch (refusal) {
    const key = await findUsedKey(request, keyTextOf(request), () => readRequestKey(request))
    const response = key && (await findResponse(request, key))
    if (response === undefined) throw refusal
    return response
  }
  return createOnce(request, (transaction) => create(transaction, body))
}

/**
 * Creates a rule. With an Idempotency-Key it is created once: the key is claimed and the response stored in the transaction that
 * creates the rule, so neither exists without the other.
 */
export async function createOnce(
  request: FastifyRequest,
  create: (transaction: WorkspaceTransaction) => Promise<Change<RuleRow>>,
): Promise<StoredResponse> {
  const key = readRequestKey(request)
  if (key === undefined) return presentCreated(await changeRulesOfRequest(request, create))
  // Most repeats come later, and then there is no lock to wait for.
  const known = await findResponse(request, key)
  if (known !== undefined) return known
  try {
    return await changeRulesOfRequest(request, async (transaction) => {
      await claimKey(transaction, key)
      const { result, entry } = await create(transaction)
      const response = presentCreated(result)
      await keepResponse(transaction, key, response)
      return { result: response, entry }
    })
  } catch (error) {
    if (error instanceof KeyTaken) return createOnce(request, create)
    throw error
  }
}

function presentCreated(rule: RuleRow): StoredResponse {
  return {
    status: 201,
    headers: { location: `/api/automation-rules/${rule.id}`, etag: `"${rule.version}"` },
    body: presentRule(rule),
  }
}
