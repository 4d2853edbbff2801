import { timingSafeEqual } from 'node:crypto'
import { hashApiKey, readApiKeyId, type Scope, type Tenant } from '@automation/access'
import { createReadBatcher, type Database } from '@automation/database'
import { createUseNotes } from './last-used.js'

interface StoredKey extends Tenant {
  id: string
  workspaceId: string
  scopes: Scope[]
  hash: Uint8Array
}

/**
 * Verifies an API key.
 *
 * @returns the stored key; undefined for any text that is no valid key
 * @throws what Postgres throws when it is away, by its promise
 */
export type VerifyApiKey = (key: string) => Promise<StoredKey | undefined>

/** $1 ids */
const loadKeysSql = `
  SELECT k.id, k.workspace_id AS "workspaceId", k.scopes, k.hash, w.plan::text AS plan,
         w.created_by AS "createdBy"
  FROM api_keys k
  JOIN workspaces w ON w.id = k.workspace_id
  WHERE k.id = ANY($1::uuid[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`

/**
 * Creates a verifier that does not cache keys, so a revoked key is invalid from the next request on, in every process. Requests of
 * the same moment share a statement.
 */
export function createApiKeyVerifier(database: Database): VerifyApiKey {
  const load = createReadBatcher(async (ids: string[]) => {
    const keys = await database.run<StoredKey>('load_api_keys', loadKeysSql, [ids])
    const byId = new Map(keys.map((key) => [key.id, key]))
    return ids.map((id) => byId.get(id))
  })
  const noteUse = createUseNotes((id, lastUsedAt) =>
    database.system.apiKey.updateMany({ where: { id }, data: { lastUsedAt } }),
  )

  return async (text) => {
    const id = readApiKeyId(text)
    const key = id === undefined ? undefined : await load(id)
    if (key === undefined || !timingSafeEqual(key.hash, hashApiKey(text))) return undefined
    noteUse(key.id)
    return key
  }
}
