import { createSealer, sealingContext } from '@automation/access'
import { createBatcher, type Database } from '@automation/database'
import { LRUCache } from 'lru-cache'

/** Whom we sign for: the host that a rule calls, or a subscription's id. */
export interface Recipient {
  workspaceId: string
  party: string
}

/** The keys that sign, the newest first, none where nothing is to be signed; or why they cannot be had. */
export type OutgoingKeys = { keys: Buffer[] } | { fault: string }

/** @throws what Postgres throws when it is away, by its promise */
export type FindKeys = (recipient: Recipient) => Promise<OutgoingKeys>

/** For how long (ms) a secret that was made or revoked may not be heard of. */
const ttlMs = 1_000
const maxRecipients = 10_000

/**
 * The outgoing secrets of a recipient, looked up for many calls at a time.
 *
 * @param encryptionKey what they are sealed with; one that it does not open is a fault, since a call without the signature
 * that its receiver expects would be taken for a forgery
 */
export function createOutgoingKeys(database: Database, encryptionKey: string): FindKeys {
  const sealer = createSealer(encryptionKey)
  const load = createBatcher((recipients: Recipient[]) => loadSecrets(database, recipients))
  const recent = new LRUCache<string, Promise<OutgoingKeys>>({ max: maxRecipients, ttl: ttlMs })

  return (recipient) => {
    const key = `${recipient.workspaceId} ${recipient.party}`
    const known = recent.get(key)
    if (known) return known
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
        return { fault: `The signing secret ${secret.id} does not open with this ENCRYPTION_KEY` }
      }
    }
    return { keys }
  }
}

interface StoredSecret extends Recipient {
  id: string
  sealed: Uint8Array
}

/** Those that sign at this moment, for each recipient in the order of the list. */
async function loadSecrets(database: Database, recipients: Recipient[]): Promise<StoredSecret[][]> {
  const secrets = await database.run<StoredSecret>('load_outgoing_secrets', statement, [
    recipients.map(({ workspaceId }) => workspaceId),
    recipients.map(({ party }) => party),
  ])
  return recipients.map(({ workspaceId, party }) =>
    secrets.filter((secret) => secret.workspaceId === workspaceId && secret.party === party),
  )
}

const statement = `
  SELECT DISTINCT s.id, s.workspace_id AS "workspaceId", s.provider AS party, s.sealed
  FROM unnest($1::uuid[], $2::text[]) AS recipient (workspace_id, party)
  JOIN signing_secrets s ON s.workspace_id = recipient.workspace_id AND s.provider = recipient.party
  WHERE s.direction = 'outgoing' AND s.revoked_at IS NULL AND (s.retires_at IS NULL OR s.retires_at > now())
  ORDER BY s.id DESC`
