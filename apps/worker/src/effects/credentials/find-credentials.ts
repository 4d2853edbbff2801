import { createSealer } from '@automation/access'
import { createReadBatcher, type Database, postgresNow } from '@automation/database'
import { LRUCache } from 'lru-cache'
import { type OpenCredential, openCredential, type StoredCredential } from './open-credential.js'

interface Wanted {
  workspaceId: string
  name: string
}

export interface Credentials {
  /** @throws what Postgres throws while it is unavailable, by its promise */
  find(wanted: Wanted): Promise<OpenCredential | { fault: string; isFinal: boolean }>
  /** What was looked up has a token that is not the current one. */
  forget(wanted: Wanted): void
}

/** How long (ms) a cached look-up may miss a change. */
const ttlMs = 1_000
const maxCached = 10_000
const minuteMs = 60_000

/**
 * Finds the credentials of workspaces. Look-ups of the same moment share a statement.
 *
 * @param encryptionKey the value of ENCRYPTION_KEY, whose keys open the sealed values
 */
export function createCredentials(database: Database, encryptionKey: string): Credentials {
  const sealer = createSealer(encryptionKey)
  const load = createReadBatcher((wanted: Wanted[]) => loadCredentials(database, wanted))
  const recent = new LRUCache<string, ReturnType<Credentials['find']>>({ max: maxCached, ttl: ttlMs })

  const find: Credentials['find'] = (wanted) => {
    const key = keyOf(wanted)
    const cached = recent.get(key)
    if (cached) return cached
    const found = load(wanted).then((row) => {
      if (row === undefined)
        return { fault: `The workspace has no credential named ${wanted.name}`, isFinal: true }
      noteUse(database, row)
      return openCredential(sealer, row)
    })
    recent.set(key, found)
    found.catch(() => {
      if (recent.peek(key) === found) recent.delete(key)
    })
    return found
  }
  return { find, forget: (wanted) => recent.delete(keyOf(wanted)) }
}

function keyOf({ workspaceId, name }: Wanted): string {
  return `${workspaceId} ${name}`
}

/** $1 workspace ids · $2 names, one for each of $1 */
const loadSql = `
  SELECT c.id, c.workspace_id AS "workspaceId", c.name, c.sealed, c.last_used_at AS "lastUsedAt",
    CASE WHEN c.token_expires_at > now() THEN c.token END AS token, c.token_id AS "tokenId"
  FROM unnest($1::uuid[], $2::text[]) AS wanted (workspace_id, name)
  JOIN credentials c ON c.workspace_id = wanted.workspace_id AND c.name = wanted.name`

async function loadCredentials(
  database: Database,
  wanted: Wanted[],
): Promise<(StoredCredential | undefined)[]> {
  const rows = await database.run<StoredCredential>('load_credentials', loadSql, [
    wanted.map(({ workspaceId }) => workspaceId),
    wanted.map(({ name }) => name),
  ])
  return wanted.map(({ workspaceId, name }) =>
    rows.find((row) => row.workspaceId === workspaceId && row.name === name),
  )
}

/** No call waits for it. Where it fails, the next use writes again. */
function noteUse(database: Database, { id, lastUsedAt }: StoredCredential): void {
  if (lastUsedAt !== null && postgresNow() - lastUsedAt.getTime() < minuteMs) return
  database
    .run('note_credential_use', 'UPDATE credentials SET last_used_at = now() WHERE id = $1', [id])
    .catch(() => {})
}
