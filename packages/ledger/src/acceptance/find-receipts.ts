import type { Database } from '@automation/database'
import type { NewReceipt } from './accept-events.js'

/** The receipt that the first delivery of a webhook left. */
export interface StoredReceipt {
  id: string
  /** SHA-256 of the raw body, as hex. */
  bodyHash: string
}

const findReceiptsSql = `
  SELECT input.index, r.id, encode(r.body_hash, 'hex') AS "bodyHash"
  FROM json_to_recordset($1::json) AS input (workspace_id uuid, provider text, key text, index int)
  JOIN webhook_receipts r USING (workspace_id, provider, key)`

/** @returns for each webhook its receipt; undefined where it was never accepted, or its receipt was removed for its age */
export async function findReceipts(
  database: Database,
  inputs: NewReceipt[],
): Promise<(StoredReceipt | undefined)[]> {
  const rows = inputs.map(({ workspaceId, provider, key }, index) => ({
    workspace_id: workspaceId,
    provider,
    key,
    index,
  }))
  const found = await database.run<StoredReceipt & { index: number }>('find_receipts', findReceiptsSql, [
    JSON.stringify(rows),
  ])
  const byIndex = new Map(found.map(({ index, id, bodyHash }) => [index, { id, bodyHash }]))
  return inputs.map((_, index) => byIndex.get(index))
}
