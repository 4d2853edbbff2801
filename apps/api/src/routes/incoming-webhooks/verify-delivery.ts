import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { maxOfProvider, tenantColumnsSql } from '@automation/access'
import { createReadBatcher, type Database, isUuid, writeJson } from '@automation/database'
import {
  countSpellings,
  findReadyScheme,
  readSchemeKey,
  type SchemeInUse,
  type SchemeName,
  type SchemeSettings,
  signsLike,
  useScheme,
  verifyByScheme,
} from '@automation/webhooks'
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { IncomingDelivery } from './delivery.js'
import { noId, type SecretOpener, type StoredSecret } from './open-secrets.js'

export interface DeliverySecret extends StoredSecret {
  scheme: SchemeName
  settings: SchemeSettings | null
}

/** What has signed a delivery, and how it is read. */
export interface SignedDelivery {
  secret: DeliverySecret
  inUse: SchemeInUse
  key: Buffer
}

/** Where a delivery is sent to, and the id of its secret: '' where it names none. */
type Place = Pick<IncomingDelivery, 'workspaceId' | 'provider' | 'signatureId'>

/** For how long (ms) a secret that another process has revoked may still sign. It saves a busy sender a query each. */
const secretTtlMs = 50
/** One whose look-up took longer (ms) was read by a process that stood still, or by a slow Postgres: it is too old to be kept. */
const longestLookUpMs = 1_000

/**
 * Verifies deliveries, each in the scheme of the secret that has signed it: the one that it names, or each secret in use of its provider.
 *
 * Right or wrong, known or unknown, a delivery that names no secret costs one look-up, and five secrets opened and five HMACs over the body, with decoys
 * for those that are missing: nobody learns from the answer's time which provider, scheme or how many secrets a workspace has. Forms cost ten, since
 * their fields may be signed instead, and the header of Twilio twenty, since it signs one of two URLs. One that names its secret costs a look-up, and two
 * secrets and HMACs: only what is rightly signed with a secret that was just looked up is done after the first.
 */
export class DeliveryVerifier {
  readonly #load: (place: Place) => Promise<DeliverySecret[]>
  readonly #recent = new LRUCache<string, DeliverySecret>({ max: 10_000, ttl: secretTtlMs })
  readonly #opener: SecretOpener
  readonly #noteUse: (id: string) => void

  /** @param noteUse is told the id of a secret that has signed, once it was looked up */
  constructor(app: FastifyInstance, opener: SecretOpener, noteUse: (id: string) => void) {
    this.#load = createReadBatcher((places: Place[]) => loadSecrets(app.database, places))
    app.accessCaches.push(this.#recent)
    this.#opener = opener
    this.#noteUse = noteUse
  }

  /** @throws what Postgres throws when it is unavailable */
  async verify(delivery: IncomingDelivery): Promise<SignedDelivery | undefined> {
    const { workspaceId, provider, signatureId } = delivery
    const name = `${workspaceId} ${provider} ${signatureId}`
    if (signatureId !== '') {
      const recent = this.#recent.get(name)
      const known = this.#findSigner(recent === undefined ? [] : [recent], delivery)
      if (known !== undefined) return known
    }
    const askedAt = performance.now()
    const loaded = await this.#load(delivery)
    const isYoung = performance.now() - askedAt < longestLookUpMs
    const signed = this.#findSigner(loaded, delivery)
    if (signed === undefined) return undefined
    if (signatureId !== '' && isYoung) this.#recent.set(name, signed.secret)
    this.#noteUse(signed.secret.id)
    return signed
  }

  /**
   * Whether a delivery names a secret of the workspace and provider that it names, before its body is there. It says only who pays for the
   * body: a refusal would tell a stranger that the secret exists.
   */
  async namesSecret(delivery: IncomingDelivery): Promise<boolean> {
    return delivery.signatureId !== '' && (await this.#load(delivery)).length > 0
  }

  /**
   * The secret whose settings have a token. For every place it costs one look-up and five comparisons of hashes, with decoys.
   *
   * @throws what Postgres throws when it is unavailable
   */
  async findByToken(place: Place, token: string): Promise<DeliverySecret | undefined> {
    const secrets = await this.#load({ ...place, signatureId: '' })
    const sent = hash('sha256', token, 'buffer')
    let found: DeliverySecret | undefined
    for (let at = 0; at < maxOfProvider; at++) {
      const secret = secrets[at]
      const known = secret?.scheme === 'meta' ? secret.settings?.verifyToken : undefined
      const isSame = timingSafeEqual(sent, hash('sha256', known ?? noToken, 'buffer'))
      if (isSame && known !== undefined) found ??= secret
    }
    return found
  }

  /** The secret that has signed a delivery. The delivery alone decides what it costs. */
  #findSigner(secrets: DeliverySecret[], delivery: IncomingDelivery): SignedDelivery | undefined {
    const { scheme } = decoyFor(delivery)
    const hmacs = countSpellings(scheme)
    const parts = delivery.isForm ? ['{body}', '{fields}'] : ['{body}']
    const isOneEnough = !delivery.isForm && scheme.signed.includes('{body}')
    const signAsDecoy = (signed: string) =>
      verifyByScheme({ scheme: { ...scheme, signed } }, this.#opener.decoy.opened, delivery)
    let signed: SignedDelivery | undefined
    for (let at = 0; at < (delivery.signatureId === '' ? maxOfProvider : 1); at++) {
      const secret = this.#opener.open(secrets[at])
      const inUse = secret && useScheme(secret.scheme, secret.settings ?? {})
      const key = inUse && readSchemeKey(inUse.scheme, secret.opened)
      const isCandidate =
        secret && inUse && key !== undefined && mayHaveSigned(secret.scheme, inUse, delivery)
      const signs = isCandidate ? inUse.scheme.signed : isOneEnough ? '{body}' : ''
      if (!isCandidate) signAsDecoy(signs)
      else if (verifyByScheme(inUse, key, delivery, hmacs)) signed ??= { secret, inUse, key }
      // Each part is digested once, by whatever scheme.
      if (!isOneEnough) signAsDecoy(parts.filter((part) => !signs.includes(part)).join(''))
    }
    return signed
  }
}

/** Compared where no secret has one. */
const noToken = randomBytes(32).toString('base64')

/**
 * Of several ready schemes in the headers of a delivery, the one of the decoys counts. Other secrets cost what a decoy costs. So does one for fields
 * alone, if there are none.
 */
function mayHaveSigned(
  name: SchemeName,
  { scheme }: SchemeInUse,
  { headers, isForm }: IncomingDelivery,
): boolean {
  if (name !== 'generic') {
    const [, found] = findReadyScheme(headers) ?? []
    return found !== undefined && signsLike(scheme, found)
  }
  if (!isForm && !scheme.signed.includes('{body}')) return false
  return scheme.signature.headers.some((header) => headers[header] !== undefined)
}

/** The delivery alone decides how a decoy is signed. */
function decoyFor({ headers }: IncomingDelivery): SchemeInUse {
  return useScheme(findReadyScheme(headers)?.[0] ?? 'generic', {})
}

/**
 * Those that sign at this moment: the one that is named, or at most five of the provider, the newest first. Outgoing ones never do: the receivers of our
 * webhooks know them.
 */
async function loadSecrets(database: Database, places: Place[]): Promise<DeliverySecret[][]> {
  const input = places.map(({ workspaceId, provider, signatureId }, index) => ({
    // What is no place or secret of ours is looked up like one.
    workspace_id: isUuid(workspaceId) ? workspaceId : noId,
    provider: provider.includes('\0') ? '' : provider,
    secret_id: signatureId === '' ? null : isUuid(signatureId) ? signatureId : noId,
    index,
  }))
  const found = await database.run<DeliverySecret & { index: number }>('load_signing_secrets', statement, [
    writeJson(input),
  ])
  const byPlace: DeliverySecret[][] = places.map(() => [])
  for (const { index, ...secret } of found) byPlace[index]?.push(secret)
  return byPlace
}

const statement = `
  SELECT input.index, s.id, s.workspace_id AS "workspaceId", s.provider, s.scheme, s.settings, s.sealed,
         ${tenantColumnsSql}
  FROM json_to_recordset($1::json) AS input (workspace_id uuid, provider text, secret_id uuid, index int)
  CROSS JOIN LATERAL (
    SELECT * FROM signing_secrets AS known
    WHERE known.workspace_id = input.workspace_id AND known.provider = input.provider
      AND known.direction = 'incoming'
      AND known.id = coalesce(input.secret_id, known.id)
      AND (known.scheme = 'automation') = (input.secret_id IS NOT NULL)
      AND known.revoked_at IS NULL AND (known.retires_at IS NULL OR known.retires_at > now())
    ORDER BY known.id DESC
    LIMIT ${maxOfProvider}
  ) AS s
  JOIN workspaces ON workspaces.id = s.workspace_id AND coalesce(workspaces.suspended_at, workspaces.deletes_at) IS NULL
  ORDER BY s.id DESC`
