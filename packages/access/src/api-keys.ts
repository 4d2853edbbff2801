import { hash, randomBytes } from 'node:crypto'
import { isUuid, newId, type Prisma, postgresNow, type WorkspaceDatabase } from '@automation/database'
import { parseTimestamp } from '@automation/engine'
import { Type } from 'typebox'
import type { NewAuditEntry } from './audit.js'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { credentialTimes, DateTime, listNewest, orNull, presentTimes, textOnce } from './credential.js'
import { Refused } from './refused.js'
import { withdrawLinksOf } from './withdraw-links.js'

/** What a key may do. Those on rules are like the roles: each holds the ones before it. `admin` holds all. */
export const Scope = Type.Enum(
  ['receipts:read', 'embed', 'rules:read', 'rules:run', 'rules:write', 'admin'],
  { title: 'Scope' },
)
export type Scope = Type.Static<typeof Scope>

export const ApiKey = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    scopes: Type.Array(Scope, { minItems: 1, uniqueItems: true }),
    state: Type.Enum(['active', 'expired', 'revoked']),
    ...credentialTimes,
    expiresAt: orNull(DateTime),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Type.Static<typeof ApiKey>

/** The only response that contains the key. */
export const NewApiKey = Type.Object(
  {
    ...ApiKey.properties,
    ...textOnce('key', 'Text of the key. The service stores only its SHA-256.'),
  },
  { title: 'NewApiKey' },
)
export type NewApiKey = ApiKey & { key: string }

export const ApiKeyToCreate = Type.Object(
  {
    name: ApiKey.properties.name,
    scopes: ApiKey.properties.scopes,
    expiresAt: Type.Optional(
      Type.String({ description: 'ISO 8601 date, or time with a zone. Without it the key never expires.' }),
    ),
  },
  { additionalProperties: false, title: 'ApiKeyToCreate' },
)

const maxUsableKeys = 100
/** With those that were revoked or have expired: they stay as long as the audit log that names them. */
const maxKeys = 5_000

/** @throws Refused where the expiry is no time in the future, or the workspace has 100 keys in use, or 5,000 in all */
export function createApiKey(
  administrator: Administrator,
  fields: Type.Static<typeof ApiKeyToCreate>,
): Promise<NewApiKey> {
  return changeWorkspace(administrator, async (transaction) => {
    if ((await transaction.apiKey.count({ where: isInUse() })) >= maxUsableKeys)
      throw new Refused('limit_reached', `A workspace may have ${maxUsableKeys} API keys in use`)
    if ((await transaction.apiKey.count()) >= maxKeys)
      throw new Refused(
        'limit_reached',
        `A workspace may have ${maxKeys} API keys, with those that were revoked or have expired`,
      )
    return insertApiKey(transaction, administrator.workspaceId, fields)
  })
}

/** @returns the key, and the entry for the audit log @throws Refused where the expiry is no time in the future */
export async function insertApiKey(
  transaction: Pick<WorkspaceDatabase, 'apiKey'>,
  workspaceId: string,
  { name, scopes, expiresAt }: Type.Static<typeof ApiKeyToCreate>,
): Promise<{ result: NewApiKey; entry: NewAuditEntry }> {
  const id = newId()
  const key = `ark_${id}_${randomBytes(32).toString('base64url')}`
  const expiry = expiresAt === undefined ? null : readExpiry(expiresAt)
  const row = await transaction.apiKey.create({
    data: { id, workspaceId, name, scopes, hash: hashApiKey(key), expiresAt: expiry },
  })
  const details = { name, scopes, expiresAt: row.expiresAt }
  return {
    result: { ...presentApiKey(row), key },
    entry: { action: 'api_key.created', subject: id, details },
  }
}

/** Lists all keys in use and the newest revoked and expired ones, at most 1,000, the newest first. */
export async function listApiKeys(database: WorkspaceDatabase): Promise<ApiKey[]> {
  const rows = await listNewest(isInUse(), (where, take) =>
    database.apiKey.findMany({ where, take, orderBy: { id: 'desc' } }),
  )
  return rows.map(presentApiKey)
}

/** @throws Refused where there is no such key */
export async function findApiKey({ apiKey }: Pick<WorkspaceDatabase, 'apiKey'>, id: string): Promise<ApiKey> {
  const row = isUuid(id) ? await apiKey.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('api_key_not_found', 'API key not found')
  return presentApiKey(row)
}

function isInUse() {
  return { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(postgresNow()) } }] }
}

/** Revokes a key from the next request on. To revoke it again changes nothing. @throws Refused where there is no such key */
export function revokeApiKey(administrator: Administrator, id: string): Promise<ApiKey> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = isUuid(id) ? await transaction.apiKey.findUnique({ where: { id } }) : null
    if (found === null) throw new Refused('api_key_not_found', 'API key not found')
    if (found.revokedAt) return { result: presentApiKey(found), entry: undefined }
    const row = await transaction.apiKey.update({
      where: { id },
      data: { revokedAt: new Date(postgresNow()) },
    })
    await withdrawLinksOf(transaction, `api_key:${row.id}`)
    return {
      result: presentApiKey(row),
      entry: { action: 'api_key.revoked', subject: row.id, details: { name: row.name } },
    }
  })
}

/** Reads the id from a text with the form of a key; undefined for any other text. */
export function readApiKeyId(text: string): string | undefined {
  return /^ark_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(text)?.[1]
}

/** SHA-256 suffices: a key contains 32 random bytes, which nobody can guess. */
export function hashApiKey(key: string): Buffer<ArrayBuffer> {
  return Buffer.from(hash('sha256', key, 'hex'), 'hex')
}

// A time with a zone may be after the year 9999. Postgres stores it, but it cannot be parsed again.
const lastExpiry = Date.UTC(9999, 11, 31)

/** Describes the fault of a new key's expiry; undefined where there is none. */
export function findExpiryFault(expiresAt: string): string | undefined {
  const time = parseTimestamp(expiresAt)
  const isAhead = time > postgresNow() && time <= lastExpiry
  return isAhead ? undefined : 'Must be an ISO 8601 date, or a time with a zone, in the future'
}

function readExpiry(text: string): Date {
  const fault = findExpiryFault(text)
  if (fault !== undefined) throw new Refused('validation_failed', fault, 'expiresAt')
  return new Date(parseTimestamp(text))
}

type Row = Omit<Prisma.ApiKeyGetPayload<object>, 'workspaceId' | 'hash'>

function presentApiKey(row: Row): ApiKey {
  const isExpired = row.expiresAt !== null && row.expiresAt.getTime() <= postgresNow()
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as Scope[],
    state: row.revokedAt ? 'revoked' : isExpired ? 'expired' : 'active',
    ...presentTimes(row),
    expiresAt: row.expiresAt?.toISOString() ?? null,
  }
}
