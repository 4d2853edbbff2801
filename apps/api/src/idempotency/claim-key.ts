import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { keyHours, type RequestKey } from '@automation/inbox'
import type { Answer } from './answer.js'

/** Thrown to undo a change whose request was done before, or by a twin that was faster. */
export class KeyTaken extends Error {}

/**
 * Takes a key for the transaction of a change: a twin waits until it is committed, or undone. Claim it under the lock of
 * the workspace and before anything else is written: whoever this waits for then waits for nothing of this transaction.
 *
 * @throws KeyTaken where it stands for a request already
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

/** Keeps the answer in the transaction that has claimed the key: whoever finds the key finds its answer. */
export async function keepAnswer(
  transaction: WorkspaceTransaction,
  { workspaceId, key }: RequestKey,
  answer: Answer,
): Promise<void> {
  await transaction.idempotencyKey.update({
    where: { workspaceId_key: { workspaceId, key } },
    data: { answer: answer as unknown as Prisma.InputJsonObject },
    select: { key: true },
  })
}
