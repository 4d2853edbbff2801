import type { StoredResponse } from '../../acceptance/idempotency/stored-response.js'

/** The response that has the text of a new credential: no cache may keep it. */
export function presentCreated(location: string, body: object): StoredResponse {
  return { status: 201, headers: { location, 'cache-control': 'no-store' }, body }
}
