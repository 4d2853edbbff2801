import { createSealer, sealingContext } from '@automation/access'
import { createReadBatcher, type Database } from '@automation/database'
import { LRUCache } from 'lru-cache'

/** The receiver of signed calls. */
export interface Recipient {
  workspaceId: string
  /** The host that a rule calls, or the id of a subscription. */
  counterparty: string
}

/** The keys that sign, the newest first, none where calls are not signed; or why there are no keys. */
export type OutgoingKeys = { keys: Buffer[] } | { fault: string }

/** @throws what Postgres throws when it is away, by its promise */
export type FindKeys = (recipient: Recipient) => Promise<OutgoingKeys>

/** How long (ms) a cached lookup may miss that a secret was created or revoked. */
const ttlMs = 1_000
const maxRecipients = 10_000

/**
 * Creates a function that finds the outgoing secrets of a recipient. Lookups of the same moment share a statement.
 *
 * @param encryptionKey the value of ENCRYPTION_KEY, whose keys open the sealed secrets. A secret that none of them opens is a fault: a
 * receiver would take a call without the expected signature for a forgery.
 */
export function createOutgoingKeys(database: Database, encryptionKey: string): FindKeys {
  const sealer = createSealer(encryptionKey)
  const load = createReadBatcher((recipients: Recipient[]) => loadSecrets(database, recipients))
  const recent = new LRUCache<string, Promise<OutgoingKeys>>({ max: maxRecipients, ttl: ttlMs })

  return (recipient) => {
    const key = `${recipient.workspaceId} ${recipient.counterparty}`
    const cached = recent.get(key)
    if (cached) return cached
    const found = load(recipient).then(openSecrets)
    recent.set(key, found)
    found.catch(() => {
      if (recent.peek(key) === found) recent.delete(key)
    })
    return found
  }

  function openSecrets(secrets: StoredSecret[]): OutgoingKeys {
    const keys: Buffer[] = []
    for (const secret of secrets) {
      try {
        keys.push(sealer.open(secret.sealed, sealingContext(secret)))
      } catch {
        return { fault: `The signing secret ${secret.id} cannot be decrypted with this ENCRYPTION_KEY` }
      }
    }
    return { keys }
  }
}

interface StoredSecret extends Recipient {
  id: string
  sealed: Uint8Array
}

/** $1 workspace ids · $2 counterparties, one for each of $1 */
const loadSecretsSql = `
  SELECT DISTINCT s.id, s.workspace_id AS "workspaceId", s.provider AS counterparty, s.sealed
  FROM unnest($1::uuid[], $2::text[]) AS recipients (workspace_id, counterparty)
  JOIN signing_secrets s ON s.workspace_id = recipients.workspace_id AND s.provider = recipients.counterparty
  WHERE s.direction = 'outgoing' AND s.revoked_at IS NULL AND (s.retires_at IS NULL OR s.retires_at > now())
  ORDER BY s.id DESC`

/** Loads the secrets that sign at present, for each recipient in the order of the list. */
async function loadSecrets(database: Database, recipients: Recipient[]): Promise<StoredSecret[][]> {
  const secrets = await database.run<StoredSecret>('load_outgoing_secrets', loadSecretsSql, [
    recipients.map(({ workspaceId }) => workspaceId),
    recipients.map(({ counterparty }) => counterparty),
  ])
  return recipients.map(({ workspaceId, counterparty }) =>
    secrets.filter((secret) => secret.workspaceId === workspaceId && secret.counterparty === counterparty),
  )
}
