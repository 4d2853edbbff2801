import { timingSafeEqual } from 'node:crypto'
import { hashSecret, type LiveSession, loadEmbedSessions, readSessionId } from '@automation/access'
import { createReadBatcher, type Database } from '@automation/database'

/**
 * Creates a verifier of the tokens of embed sessions. Like that of keys it caches nothing, so one that has ended, or whose key was revoked, is invalid from
 * the next request on, in every process.
 *
 * @returns undefined for any text that is no token of a live session
 */
export function createSessionVerifier(
  database: Database,
): (token: string) => Promise<LiveSession | undefined> {
  const load = createReadBatcher(async (ids: string[]) => {
    const loaded = await loadEmbedSessions(database, ids)
    const byId = new Map(loaded.map((one) => [one.session.grant.id, one]))
    return ids.map((id) => byId.get(id))
  })
  return async (token) => {
    const id = readSessionId(token)
    const found = id === undefined ? undefined : await load(id)
    const isRight = found !== undefined && timingSafeEqual(found.hash, hashSecret(token))
    return isRight ? found.session : undefined
  }
}
