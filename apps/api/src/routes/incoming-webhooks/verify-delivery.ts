import { randomBytes } from 'node:crypto'
import { type Sealer, sealingContext } from '@automation/administration'
import { type Database, groupCommit, isUuid, Prisma } from '@automation/database'
import { verifySignature } from '@automation/webhooks'
import { LRUCache } from 'lru-cache'
import { createUseNotes } from '../../last-used.js'
import type { Delivery } from './delivery.js'

interface StoredSecret {
  id: string
  workspaceId: string
  provider: string
  sealed: Uint8Array
}

/** How often (ms) secrets are looked up at most. Without a pace a query would serve but two or three deliveries. */
const lookUpPaceMs = 4

/** Answers the id of the secret that signed a delivery; undefined where none did. @throws what Postgres throws when it is away */
export type VerifyDelivery = (delivery: Delivery) => Promise<string | undefined>

/**
 * An unknown workspace, provider or id, a revoked or retired secret and a wrong signature cost the same work, so that
 * nobody learns from the answer's time which it was: one look-up by the id, one digest over the whole body, one
 * comparison. The look-up is not cached: a secret that was revoked signs nothing from the next delivery on, on every
 * process. Deliveries that arrive together share it.
 */
export function createDeliveryVerifier(database: Database, sealer: Sealer): VerifyDelivery {
  const load = groupCommit((ids: string[]) => loadSecrets(database, ids), { paceMs: lookUpPaceMs })
  const keys = new LRUCache<string, Buffer>({ max: 10_000 })
  const noteUse = createUseNotes((id, lastUsedAt) =>
    database.system.signingSecret.updateMany({ where: { id }, data: { lastUsedAt } }),
  )
  const decoyKey = randomBytes(32)

  return async (delivery) => {
    const secret = await load(isUuid(delivery.signatureId) ? delivery.signatureId : noId)
    const isMeant = secret?.workspaceId === delivery.workspaceId && secret.provider === delivery.provider
    const isRight = verifySignature(isMeant ? openKey(secret) : decoyKey, delivery, delivery.signature)
    if (!isMeant || !isRight) return undefined
    noteUse(secret.id)
    return secret.id
  }

  /** A secret never changes under its id. */
  function openKey(secret: StoredSecret): Buffer {
    const known = keys.get(secret.id)
    if (known !== undefined) return known
    const key = sealer.open(secret.sealed, sealingContext(secret))
    keys.set(secret.id, key)
    return key
  }
}

const noId = '00000000-0000-0000-0000-000000000000'

/** Those that sign at this moment, in the order of the ids. */
async function loadSecrets(database: Database, ids: string[]): Promise<(StoredSecret | undefined)[]> {
  const secrets = await database.system.$queryRaw<StoredSecret[]>(Prisma.sql`/* load_signing_secrets */
    SELECT id, workspace_id AS "workspaceId", provider, sealed
    FROM signing_secrets
    WHERE id = ANY(${ids}::uuid[]) AND revoked_at IS NULL AND (retires_at IS NULL OR retires_at > now())`)
  const byId = new Map(secrets.map((secret) => [secret.id, secret]))
  return ids.map((id) => byId.get(id))
}
