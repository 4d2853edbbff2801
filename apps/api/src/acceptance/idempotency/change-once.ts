import type { Administrator } from '@automation/access'
import type { FastifyRequest } from 'fastify'
import { administratorOf } from '../../access/administrator.js'
import { claimKey, KeyTaken, keepResponse } from './claim-key.js'
import { findResponse } from './find-response.js'
import { readRequestKey } from './request-key.js'
import type { StoredResponse } from './stored-response.js'

/**
 * Makes the change that a request asks for. With an Idempotency-Key it is made once: the key is claimed and the response stored in the
 * transaction of the change, so neither exists without the other. The route has `key: 'change'`, which answers most repeats.
 *
 * @param change one transaction of the administrator, and what follows from it. It returns the result of the transaction
 * @param secret the field of the response that is for the first caller alone, such as `key`, or `apiKey.key` within another one
 */
export async function changeOnce<Result>(
  request: FastifyRequest,
  change: (administrator: Administrator) => Promise<Result>,
  present: (result: Result) => StoredResponse,
  secret?: string,
): Promise<StoredResponse> {
  const key = readRequestKey(request)
  const administrator = administratorOf(request)
  if (key === undefined) return present(await change(administrator))
  const once: Administrator['once'] = async (transaction, work) => {
    await claimKey(transaction, key)
    const changed = await work()
    const response = present(changed.result as unknown as Result)
    await keepResponse(transaction, key, secret === undefined ? response : withoutSecret(response, secret))
    return changed
  }
  try {
    return present(await change({ ...administrator, once }))
  } catch (error) {
    if (!(error instanceof KeyTaken)) throw error
    // None is found where the key of the other request has expired meanwhile: it is free now.
    return (await findResponse(request, key)) ?? changeOnce(request, change, present, secret)
  }
}

function withoutSecret(response: StoredResponse, path: string): StoredResponse {
  return { ...response, body: withoutText(response.body, path.split('.')) }
}

function withoutText(body: object, [field = '', ...rest]: string[]): object {
  if (rest.length > 0)
    return { ...body, [field]: withoutText((body as Record<string, object>)[field] ?? {}, rest) }
  const message =
    'Only the first response contained it, and it is not stored. If you do not have it, revoke this one and create another'
  return { ...body, [field]: null, warnings: [{ field, message }] }
}
