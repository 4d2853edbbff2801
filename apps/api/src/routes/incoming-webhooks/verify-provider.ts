import { maxOfProvider } from '@automation/access'
import { createReadBatcher, type Database, isUuid } from '@automation/database'
import {
  findReadyScheme,
  type ProviderScheme,
  readSchemeKey,
  type SchemeInUse,
  type SchemeSettings,
  useScheme,
  verifyByScheme,
} from '@automation/webhooks'
import type { IncomingDelivery } from './delivery.js'
import { noId, type SecretOpener, type StoredSecret } from './open-secrets.js'

export interface ProviderSecret extends StoredSecret {
  scheme: ProviderScheme
  settings: SchemeSettings | null
}

/** What has signed a delivery, and how it is read. */
export interface SignedByProvider {
  secret: ProviderSecret
  inUse: SchemeInUse
}

type Place = Pick<IncomingDelivery, 'workspaceId' | 'provider'>

/**
 * Verifies deliveries in the schemes of providers, which name no secret: each secret in use of the provider is tried.
 *
 * Right or wrong, known or unknown, a delivery costs one look-up, and five secrets opened and five HMACs over the body, with decoys
 * for those that are missing: nobody learns from the answer's time which provider, scheme or how many secrets a workspace has.
 */
export class ProviderVerifier {
  readonly #load: (place: Place) => Promise<ProviderSecret[]>
  readonly #opener: SecretOpener
  readonly #noteUse: (id: string) => void

  constructor(database: Database, opener: SecretOpener, noteUse: (id: string) => void) {
    this.#load = createReadBatcher((places: Place[]) => loadSecrets(database, places))
    this.#opener = opener
    this.#noteUse = noteUse
  }

  /** @throws what Postgres throws when it is unavailable */
  async verify(delivery: IncomingDelivery): Promise<SignedByProvider | undefined> {
    const secrets = await this.#load(delivery)
    let signed: SignedByProvider | undefined
    for (let at = 0; at < maxOfProvider; at++) {
      const secret = this.#opener.open(secrets[at])
      const inUse = secret && useScheme(secret.scheme, secret.settings ?? {})
      const key = inUse && readSchemeKey(inUse.scheme, secret.opened.toString())
      const isCandidate =
        secret && inUse && key !== undefined && mayHaveSigned(secret.scheme, inUse, delivery)
      // A generic scheme of fields alone would take no time for a body of JSON.
      if (!isCandidate || (secret.scheme === 'generic' && !inUse.scheme.signed.includes('{body}')))
        verifyByScheme(decoyFor(delivery), this.#opener.decoy.opened, delivery)
      if (isCandidate && verifyByScheme(inUse, key, delivery)) signed ??= { secret, inUse }
    }
    if (signed !== undefined) this.#noteUse(signed.secret.id)
    return signed
  }
}

/** Of several ready schemes in the headers of a delivery, the one of the decoys counts. Other secrets cost what a decoy costs. */
function mayHaveSigned(
  name: ProviderScheme,
  { scheme }: SchemeInUse,
  { headers }: IncomingDelivery,
): boolean {
  if (name !== 'generic') return findReadyScheme(headers)?.[0] === name
  return scheme.signature.headers.some((header) => headers[header] !== undefined)
}

/** The delivery alone decides how a decoy is signed. */
function decoyFor({ headers }: IncomingDelivery): SchemeInUse {
  return useScheme(findReadyScheme(headers)?.[0] ?? 'generic', {})
}

/** Those that sign at this moment, at most five of each place, the newest first. */
async function loadSecrets(database: Database, places: Place[]): Promise<ProviderSecret[][]> {
  const input = places.map(({ workspaceId, provider }, index) => ({
    // What is no place of ours is looked up like one.
    workspace_id: isUuid(workspaceId) ? workspaceId : noId,
    provider: provider.includes('\0') ? '' : provider,
    index,
  }))
  const found = await database.run<ProviderSecret & { index: number }>('load_provider_secrets', statement, [
    JSON.stringify(input),
  ])
  const byPlace: ProviderSecret[][] = places.map(() => [])
  for (const { index, ...secret } of found) byPlace[index]?.push(secret)
  return byPlace
}

const statement = `
  SELECT input.index, s.id, s.workspace_id AS "workspaceId", s.provider, s.scheme, s.settings, s.sealed,
         w.plan::text AS plan, w.created_by AS "createdBy"
  FROM json_to_recordset($1::json) AS input (workspace_id uuid, provider text, index int)
  CROSS JOIN LATERAL (
    SELECT * FROM signing_secrets AS known
    WHERE known.workspace_id = input.workspace_id AND known.provider = input.provider
      AND known.direction = 'incoming' AND known.scheme <> 'automation'
      AND known.revoked_at IS NULL AND (known.retires_at IS NULL OR known.retires_at > now())
    ORDER BY known.id DESC
    LIMIT ${maxOfProvider}
  ) AS s
  JOIN workspaces w ON w.id = s.workspace_id
  ORDER BY s.id DESC`
