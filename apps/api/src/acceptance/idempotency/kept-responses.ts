import { createBatcher, createReadBatcher, type Database, writeJson } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/ledger'
import type { StoredResponse } from './stored-response.js'

/** The stored row of an earlier request with the same key. */
export interface KnownRequest {
  /** SHA-256, as hex. */
  requestHash: string
  /** The event that the request became, if any. */
  eventId: string | null
  /** null until the response is stored. The column has this name. */
  answer: StoredResponse | null
}

interface AnsweredEvent {
  request: RequestKey
  eventId: string
  response: StoredResponse
}

export type KeptResponses = ReturnType<typeof createKeptResponses>

/** Stores the responses to requests with a key, until the key expires. Lookups of the same moment share a statement. */
export function createKeptResponses(database: Database) {
  return {
    /** @returns undefined for a key that is free */
    find: createReadBatcher((requests: RequestKey[]) => findRequests(database, requests)),
    /** Stores the response to the request that became this event, unless there is one. */
    keep: createBatcher((answered: AnsweredEvent[]) => keepResponses(database, answered)),
  }
}

const findRequestsSql = `
  SELECT input.index, encode(known.request_hash, 'hex') AS "requestHash", known.event_id AS "eventId", known.answer
  FROM json_to_recordset($1::json) AS input (workspace_id uuid, key text, index int)
  JOIN idempotency_keys known USING (workspace_id, key)
  WHERE known.created_at >= now() - make_interval(hours => $2::int)`

async function findRequests(
  database: Database,
  requests: RequestKey[],
): Promise<(KnownRequest | undefined)[]> {
  const rows = requests.map(({ workspaceId, key }, index) => ({ workspace_id: workspaceId, key, index }))
  const found = await database.run<KnownRequest & { index: number }>('find_requests', findRequestsSql, [
    writeJson(rows),
    keyHours,
  ])
  const byIndex = new Map(found.map((request) => [request.index, request]))
  return requests.map((_, index) => byIndex.get(index))
}

// Keys are locked in the order of accept-once.ts: otherwise the two could deadlock.
const keepResponsesSql = `
  WITH open_keys AS (
    SELECT known.workspace_id, known.key, input.answer
    FROM json_to_recordset($1::json) AS input (workspace_id uuid, key text, event_id uuid, answer json)
    JOIN idempotency_keys known USING (workspace_id, key, event_id)
    WHERE known.answer IS NULL
    ORDER BY known.workspace_id, known.key
    FOR UPDATE OF known
  )
  UPDATE idempotency_keys known SET answer = open_keys.answer
  FROM open_keys
  WHERE known.workspace_id = open_keys.workspace_id AND known.key = open_keys.key`

async function keepResponses(database: Database, answered: AnsweredEvent[]): Promise<true[]> {
  const rows = answered.map(({ request, eventId, response }) => ({
    workspace_id: request.workspaceId,
    key: request.key,
    event_id: eventId,
    answer: response,
  }))
  await database.run('keep_responses', keepResponsesSql, [writeJson(rows)])
  return rows.map(() => true)
}
