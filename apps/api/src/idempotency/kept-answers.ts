import { type Database, groupCommit } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/inbox'
import type { Answer } from './answer.js'

/** What is known of a request that came before. */
export interface KnownRequest {
  /** SHA-256, as hex. */
  requestHash: string
  /** The event that it became, where it was one. */
  eventId: string | null
  /** null while it is not known. */
  answer: Answer | null
}

interface AnsweredEvent {
  request: RequestKey
  eventId: string
  answer: Answer
}

export type KeptAnswers = ReturnType<typeof openKeptAnswers>

/** The requests that came under a key, for as long as it stands. Those that ask together share a statement. */
export function openKeptAnswers(database: Database) {
  return {
    /** undefined for a key that is free. */
    find: groupCommit((requests: RequestKey[]) => findRequests(database, requests)),
    /** Keeps how the request that became this event was answered, unless that is known. */
    keep: groupCommit((answered: AnsweredEvent[]) => keepAnswers(database, answered)),
  }
}

async function findRequests(
  database: Database,
  requests: RequestKey[],
): Promise<(KnownRequest | undefined)[]> {
  const wanted = requests.map(({ workspaceId, key }, index) => ({ workspace_id: workspaceId, key, index }))
  const found = await database.run<KnownRequest & { index: number }>('find_requests', findStatement, [
    JSON.stringify(wanted),
  ])
  const byIndex = new Map(found.map((request) => [request.index, request]))
  return requests.map((_, index) => byIndex.get(index))
}

const findStatement = `
  SELECT wanted.index, encode(known.request_hash, 'hex') AS "requestHash", known.event_id AS "eventId", known.answer
  FROM json_to_recordset($1::json) AS wanted (workspace_id uuid, key text, index int)
  JOIN idempotency_keys known USING (workspace_id, key)
  WHERE known.created_at >= now() - interval '${keyHours} hours'`

async function keepAnswers(database: Database, answered: AnsweredEvent[]): Promise<true[]> {
  const rows = answered.map(({ request, eventId, answer }) => ({
    workspace_id: request.workspaceId,
    key: request.key,
    event_id: eventId,
    answer,
  }))
  await database.run('keep_answers', keepStatement, [JSON.stringify(rows)])
  return rows.map(() => true)
}

// Locked in the order in which keys are taken (commit-once.ts), or the two could wait for each other.
const keepStatement = `
  WITH open AS (
    SELECT known.workspace_id, known.key, new.answer
    FROM json_to_recordset($1::json) AS new (workspace_id uuid, key text, event_id uuid, answer json)
    JOIN idempotency_keys known USING (workspace_id, key, event_id)
    WHERE known.answer IS NULL
    ORDER BY known.workspace_id, known.key
    FOR UPDATE OF known
  )
  UPDATE idempotency_keys known SET answer = open.answer
  FROM open
  WHERE known.workspace_id = open.workspace_id AND known.key = open.key`
