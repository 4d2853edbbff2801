import { timingSafeEqual } from 'node:crypto'
import {
  hashApiKey,
  readApiKeyId,
  readOperatorKeyId,
  type Scope,
  type Tenant,
  tenantColumnsSql,
} from '@automation/access'
import { createReadBatcher, type Database } from '@automation/database'
import { createUseNotes } from './last-used.js'

interface StoredKey {
  id: string
  hash: Uint8Array
}
interface StoredApiKey extends StoredKey, Tenant {
  workspaceId: string
  scopes: Scope[]
}

/**
 * Verifies a key.
 *
 * @returns the stored key; undefined for any text that is no valid key
 * @throws what Postgres throws when it is away, by its promise
 */
type VerifyKey<Key> = (key: string) => Promise<Key | undefined>

/** $1 ids */
const loadKeysSql = `
  SELECT k.id, k.workspace_id AS "workspaceId", k.scopes, k.hash, ${tenantColumnsSql}
  FROM api_keys k
  JOIN workspaces ON workspaces.id = k.workspace_id
  WHERE k.id = ANY($1::uuid[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`

/** $1 ids */
const loadOperatorKeysSql = `
  SELECT id, hash FROM operator_keys WHERE id = ANY($1::uuid[]) AND revoked_at IS NULL`

export function createApiKeyVerifier(database: Database): VerifyKey<StoredApiKey> {
  return createKeyVerifier({
    readId: readApiKeyId,
    load: (ids) => database.run<StoredApiKey>('load_api_keys', loadKeysSql, [ids]),
    noteUse: (id, lastUsedAt) => database.system.apiKey.updateMany({ where: { id }, data: { lastUsedAt } }),
  })
}

export function createOperatorKeyVerifier(database: Database): VerifyKey<StoredKey> {
  return createKeyVerifier({
    readId: readOperatorKeyId,
    load: (ids) => database.run<StoredKey>('load_operator_keys', loadOperatorKeysSql, [ids]),
    noteUse: (id, lastUsedAt) =>
      database.system.operatorKey.updateMany({ where: { id }, data: { lastUsedAt } }),
  })
}

/**
 * Creates a verifier that does not cache keys, so a revoked key is invalid from the next request on, in every process. Requests of
 * the same moment share a statement.
 */
function createKeyVerifier<Key extends StoredKey>(kind: {
  readId: (text: string) => string | undefined
  load: (ids: string[]) => Promise<Key[]>
  noteUse: (id: string, usedAt: Date) => Promise<unknown>
}): VerifyKey<Key> {
  const load = createReadBatcher(async (ids: string[]) => {
    const byId = new Map((await kind.load(ids)).map((key) => [key.id, key]))
    return ids.map((id) => byId.get(id))
  })
  const noteUse = createUseNotes(kind.noteUse)

  return async (text) => {
    const id = kind.readId(text)
    const key = id === undefined ? undefined : await load(id)
    if (key === undefined || !timingSafeEqual(key.hash, hashApiKey(text))) return undefined
    noteUse(key.id)
    return key
  }
}
