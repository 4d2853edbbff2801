import type { Database } from '@automation/database'
import type { NewReceipt } from './commit-acceptances.js'

/** The receipt of a webhook as its first delivery left it. */
export interface StoredReceipt {
  id: string
  /** SHA-256 of the raw body, as hex. */
  bodyHash: string
}

/** Looks up webhooks that are known, in their order; undefined for one that is not, or not any more. */
export async function findReceipts(
  database: Database,
  wanted: NewReceipt[],
): Promise<(StoredReceipt | undefined)[]> {
  const rows = wanted.map(({ workspaceId, provider, key }, index) => ({
    workspace_id: workspaceId,
    provider,
    key,
    index,
  }))
  const found = await database.run<StoredReceipt & { index: number }>('find_receipts', statement, [
    JSON.stringify(rows),
  ])
  const byIndex = new Map(found.map(({ index, id, bodyHash }) => [index, { id, bodyHash }]))
  return wanted.map((_, index) => byIndex.get(index))
}

const statement = `
  SELECT wanted.index, r.id, encode(r.body_hash, 'hex') AS "bodyHash"
  FROM json_to_recordset($1::json) AS wanted (workspace_id uuid, provider text, key text, index int)
  JOIN webhook_receipts r USING (workspace_id, provider, key)`
