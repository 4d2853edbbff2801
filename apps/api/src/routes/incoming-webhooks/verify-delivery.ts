import { createReadBatcher, type Database, isUuid } from '@automation/database'
import { verifySignature } from '@automation/webhooks'
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { IncomingDelivery } from './delivery.js'
import { noId, type Opened, type SecretOpener, type StoredSecret } from './open-secrets.js'

/** For how long (ms) a secret that another process has revoked may still sign. It saves a busy provider a query each. */
const secretTtlMs = 50

export interface DeliveryVerifier {
  /** Answers the secret that signed a delivery; undefined where none did. @throws what Postgres throws when it is away */
  verify(delivery: IncomingDelivery): Promise<StoredSecret | undefined>
  /**
   * Whether a delivery names a secret of the workspace and provider that it names, before its body is there. It says only who pays for the
   * body: a refusal would tell a stranger that the secret exists.
   */
  namesSecret(delivery: IncomingDelivery): Promise<boolean>
}

/**
 * Verifies deliveries of our own scheme, which name their secret.
 *
 * An unknown workspace, provider or id, a revoked or retired secret, one that does not open and a wrong signature cost the same
 * work, so that nobody learns from the answer's time which it was: a look-up by the id, and two digests over the whole body, each
 * compared, with a decoy where there is no secret that opens. Only what is rightly signed with a secret that was just looked up
 * is done after the first.
 *
 * @param noteUse is told the id of a secret that has signed
 */
export function createDeliveryVerifier(
  app: FastifyInstance,
  opener: SecretOpener,
  noteUse: (id: string) => void,
): DeliveryVerifier {
  const load = createReadBatcher((ids: string[]) => loadSecrets(app.database, ids))
  const recent = new LRUCache<string, Opened<StoredSecret>>({ max: 10_000, ttl: secretTtlMs })
  app.accessCaches.push(recent)

  return {
    async verify(delivery) {
      const known = recent.get(delivery.signatureId) ?? opener.decoy
      if (isSignedWith(known, delivery)) return known
      const secret = opener.open(await loadNamed(delivery)) ?? opener.decoy
      if (!isSignedWith(secret, delivery)) return undefined
      recent.set(secret.id, secret)
      noteUse(secret.id)
      return secret
    },
    async namesSecret(delivery) {
      const secret = await loadNamed(delivery)
      return secret !== undefined && isOfPlace(secret, delivery)
    },
  }

  function loadNamed({ signatureId }: IncomingDelivery): Promise<StoredSecret | undefined> {
    return load(isUuid(signatureId) ? signatureId : noId)
  }
}

/** Digests the whole body before it compares the workspace, so that the time says nothing about which of them differs. */
function isSignedWith(secret: Opened<StoredSecret>, delivery: IncomingDelivery): boolean {
  const isRight = verifySignature(secret.opened, delivery, delivery.signature)
  return isRight && isOfPlace(secret, delivery)
}

function isOfPlace({ workspaceId, provider }: StoredSecret, delivery: IncomingDelivery): boolean {
  return workspaceId === delivery.workspaceId && provider === delivery.provider
}

/** Those that sign at this moment, in the order of the ids. Outgoing ones never do: the receivers of our webhooks know them. */
async function loadSecrets(database: Database, ids: string[]): Promise<(StoredSecret | undefined)[]> {
  const secrets = await database.run<StoredSecret>('load_signing_secrets', statement, [ids])
  const byId = new Map(secrets.map((secret) => [secret.id, secret]))
  return ids.map((id) => byId.get(id))
}

const statement = `
  SELECT s.id, s.workspace_id AS "workspaceId", s.provider, s.sealed, w.plan::text AS plan,
         w.created_by AS "createdBy"
  FROM signing_secrets s
  JOIN workspaces w ON w.id = s.workspace_id
  WHERE s.id = ANY($1::uuid[]) AND s.direction = 'incoming' AND s.scheme = 'automation'
    AND s.revoked_at IS NULL AND (s.retires_at IS NULL OR s.retires_at > now())`
