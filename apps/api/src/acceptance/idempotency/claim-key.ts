import { Prisma, type WorkspaceTransaction, writeJson } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/ledger'
import type { StoredResponse } from './stored-response.js'

/** Rolls back a change whose request was done before, or by a concurrent request with the same key. */
export class KeyTaken extends Error {}

/**
 * Claims a key in the transaction of a change: a concurrent request with the same key waits until it is committed or rolled back.
 * Claim it before any other write, and before any lock but that of the workspace: then no transaction that this one waits for waits for it.
 *
 * @throws KeyTaken where the key belongs to a request already
 */
export async function claimKey(
  transaction: WorkspaceTransaction,
  { workspaceId, key, requestHash }: RequestKey,
): Promise<void> {
  const claimed = await transaction.$executeRaw(Prisma.sql`
    INSERT INTO idempotency_keys AS known (workspace_id, key, request_hash)
    VALUES (${workspaceId}::uuid, ${key}, decode(${requestHash}, 'hex'))
    ON CONFLICT (workspace_id, key) DO UPDATE
    SET request_hash = excluded.request_hash, event_id = NULL, answer = NULL, created_at = now()
    WHERE known.created_at < now() - make_interval(hours => ${keyHours}::int)`)
  if (claimed === 0) throw new KeyTaken()
}

/** Stores the response in the transaction that claimed the key, so that a caller who finds the key also finds its response. */
export async function keepResponse(
  transaction: WorkspaceTransaction,
  { workspaceId, key }: RequestKey,
  response: StoredResponse,
): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    UPDATE idempotency_keys SET answer = ${writeJson(response)}::json
    WHERE workspace_id = ${workspaceId}::uuid AND key = ${key}`)
}
