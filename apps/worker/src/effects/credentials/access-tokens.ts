import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createSealer, type Sealer } from '@automation/access'
import type { Database } from '@automation/database'
import {
  type OpenCredential,
  openCredential,
  type StoredCredential,
  type Token,
  tokenContext,
} from './open-credential.js'
import type { RequestToken } from './request-token.js'

/** How often (ms) this worker looks for the token that another one requests. */
const pollMs = 100

/** A token, or why there is none. */
export type FoundToken = { token: Token } | { fault: string; isFinal: boolean }

/** A token, and the parts of the credential that it is of. */
type NextToken = { token: Token; sealed: Uint8Array } | { fault: string; isFinal: boolean }

/**
 * Finds the access tokens of credentials. A token is sealed in Postgres, and one of all workers requests the next:
 *
 *   current ──its time is over, or a receiver refuses it──▶ leased ──▶ current
 *                                                             └── not granted, or its worker crashed (15 s) ──▶ the next worker requests it
 */
export class AccessTokens {
  readonly #database: Database
  readonly #sealer: Sealer
  readonly #request: RequestToken
  /** Of this worker, by the credential and the refused token. */
  readonly #pending = new Map<string, Promise<NextToken>>()

  constructor(database: Database, encryptionKey: string, request: RequestToken) {
    this.#database = database
    this.#sealer = createSealer(encryptionKey)
    this.#request = request
  }

  /**
   * A new token is for the hosts that the credential has by now, which may be others than those of the attempt.
   *
   * @param refused the id of a token that a receiver has refused
   */
  async find(credential: OpenCredential, refused?: string): Promise<FoundToken> {
    const { id, name, token, sealed } = credential
    if (token !== undefined && token.id !== refused) return { token }
    const key = `${id} ${refused}`
    let pending = this.#pending.get(key)
    if (pending === undefined) {
      pending = this.#findNext(id, name, refused).finally(() => this.#pending.delete(key))
      this.#pending.set(key, pending)
    }
    const found = await pending
    if ('fault' in found || Buffer.compare(found.sealed, sealed) === 0) return found
    return { fault: `The credential ${name} was changed`, isFinal: false }
  }

  async #findNext(id: string, name: string, known: string | undefined): Promise<NextToken> {
    let refused = known ?? null
    for (;;) {
      const lease = randomUUID()
      const [row] = await this.#database.run<LeasedCredential>('lease_token', leaseSql, [id, lease, refused])
      if (row === undefined) return { fault: `The credential ${name} was deleted`, isFinal: true }
      const opened = openCredential(this.#sealer, row)
      if ('fault' in opened) return opened
      if (row.isLeased) return this.#requestNext(opened, lease)
      if (opened.token !== undefined && opened.token.id !== refused)
        return { token: opened.token, sealed: opened.sealed }
      // One that no key opens is of no use.
      if (row.token !== null && opened.token === undefined && row.tokenId !== refused) refused = row.tokenId
      else await delay(pollMs)
    }
  }

  async #requestNext(credential: OpenCredential, lease: string): Promise<NextToken> {
    const { id, workspaceId } = credential
    let granted: Awaited<ReturnType<RequestToken>> | undefined
    try {
      granted = await this.#request(credential)
    } finally {
      if (granted === undefined || 'fault' in granted)
        await this.#database.run('return_token_lease', returnLeaseSql, [id, lease])
    }
    if ('fault' in granted) return granted
    const token = this.#sealer.seal(Buffer.from(granted.text), tokenContext({ id, workspaceId }))
    try {
      await this.#database.run('store_token', storeSql, [id, lease, token, granted.usableMs])
    } catch {
      // It is as good for this call; the next one requests another.
      await this.#database.run('return_token_lease', returnLeaseSql, [id, lease]).catch(() => {})
    }
    return { token: { id: lease, text: granted.text }, sealed: credential.sealed }
  }
}

interface LeasedCredential extends StoredCredential {
  isLeased: boolean
}

/**
 * Leases the request for the next token, if one is needed and no other worker has the lease. All times are those of Postgres.
 *
 * $1 id · $2 lease · $3 id of a refused token, or null
 */
const leaseSql = `
  WITH leased AS (
    UPDATE credentials SET token_lease = $2, token_lease_until = now() + interval '15 seconds'
    WHERE id = $1 AND (token_lease_until IS NULL OR token_lease_until < now())
      AND (token IS NULL OR token_id = $3 OR token_expires_at < now())
    RETURNING id)
  SELECT c.id, c.workspace_id AS "workspaceId", c.name, c.sealed, c.last_used_at AS "lastUsedAt",
    CASE WHEN c.token_expires_at > now() THEN c.token END AS token, c.token_id AS "tokenId",
    leased.id IS NOT NULL AS "isLeased"
  FROM credentials c LEFT JOIN leased ON leased.id = c.id
  WHERE c.id = $1`

/** Nothing is stored if the lease was lost, or the values were replaced. $1 id · $2 lease · $3 sealed token · $4 how long (ms) it is used */
const storeSql = `
  UPDATE credentials SET token = $3, token_id = $2, token_expires_at = now() + $4 * interval '1 millisecond',
    token_lease = NULL, token_lease_until = NULL
  WHERE id = $1 AND token_lease = $2`

const returnLeaseSql = `
  UPDATE credentials SET token_lease = NULL, token_lease_until = NULL WHERE id = $1 AND token_lease = $2`
