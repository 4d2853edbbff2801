import { type Database, writeJson } from '@automation/database'
import type { NewReceipt } from './accept-events.js'

/** The receipt that the first delivery of a webhook left. */
export interface StoredReceipt {
  id: string
  /** SHA-256 of the raw body, as hex. */
  bodyHash: string
  /** By what it was found. */
  foundBy: 'id' | 'body'
}

/** $1 receipts. The receipt with the key comes last, and so is the one that counts. */
const findReceiptsSql = `
  WITH input AS (
    SELECT * FROM json_to_recordset($1::json) AS r (
      workspace_id uuid, provider text, key text, unique_hash bytea, index int)
  )
  SELECT input.index, r.id, encode(r.body_hash, 'hex') AS "bodyHash", 'body' AS "foundBy"
  FROM input JOIN webhook_receipts r USING (workspace_id, provider, unique_hash)
  UNION ALL
  SELECT input.index, r.id, encode(r.body_hash, 'hex') AS "bodyHash", 'id' AS "foundBy"
  FROM input JOIN webhook_receipts r USING (workspace_id, provider, key)`

/** @returns for each webhook its receipt; undefined where it was never accepted, or its receipt was removed for its age */
export async function findReceipts(
  database: Database,
  inputs: NewReceipt[],
): Promise<(StoredReceipt | undefined)[]> {
  const rows = inputs.map(({ workspaceId, provider, key, uniqueHash }, index) => ({
    workspace_id: workspaceId,
    provider,
    key,
    unique_hash: uniqueHash === undefined ? null : `\\x${uniqueHash}`,
    index,
  }))
  const found = await database.run<StoredReceipt & { index: number }>('find_receipts', findReceiptsSql, [
    writeJson(rows),
  ])
  const byIndex = new Map(found.map(({ index, ...receipt }) => [index, receipt]))
  return inputs.map((_, index) => byIndex.get(index))
}
