import type { Deviation } from './findings.js'

/** A delivery as received: its headers, '' for a missing one, and the provider in the path. */
export interface RefusedDelivery {
  provider: string
  /** X-Idempotency-Key. */
  id: string
  timestamp: string
  signature: string
  signatureId: string
  /** All of them, by their names in lowercase. */
  headers: Readonly<Record<string, unknown>>
  body: Buffer
}

/** A signing secret of the workspace, of any provider and in any state. */
export interface KnownSecret {
  id: string
  provider: string
  key: Buffer
  state: 'active' | 'retiring' | 'retired' | 'revoked'
}

/** The reasons against a secret for this delivery, apart from its key. */
export function listDeviations(secret: KnownSecret, delivery: RefusedDelivery): Deviation[] {
  const { id: secretId, provider, state } = secret
  const deviations: Deviation[] = []
  if (!isNamed(secret, delivery)) deviations.push({ code: 'other_secret', about: secretId, secretId })
  if (provider !== delivery.provider) deviations.push({ code: 'other_provider', about: provider, secretId })
  if (state === 'retired') deviations.push({ code: 'secret_retired', secretId })
  if (state === 'revoked') deviations.push({ code: 'secret_revoked', secretId })
  return deviations
}

/** Whether X-Signature-Id names the secret. */
export function isNamed(secret: KnownSecret, { signatureId }: RefusedDelivery): boolean {
  return secret.id.toLowerCase() === signatureId.trim().toLowerCase()
}

/** Whether the time is in milliseconds: until the year 2286 these have thirteen digits, and seconds have ten. */
export function isMilliseconds(timestamp: string): boolean {
  return /^\d{13}$/.test(timestamp)
}
