import type { Deviation } from './findings.js'

/** What came in: the headers as they were sent, '' where one is missing, and the provider that the path names. */
export interface RefusedDelivery {
  provider: string
  /** X-Idempotency-Key. */
  id: string
  timestamp: string
  signature: string
  signatureId: string
  body: Buffer
}

/** A signing secret of the workspace, of whatever provider and state. */
export interface KnownSecret {
  id: string
  provider: string
  key: Buffer
  state: 'active' | 'retiring' | 'retired' | 'revoked'
}

/** What speaks against a secret for this delivery, whatever its key. */
export function judgeSecret(secret: KnownSecret, delivery: RefusedDelivery): Deviation[] {
  const { id: secretId, provider, state } = secret
  const deviations: Deviation[] = []
  if (!isNamed(secret, delivery)) deviations.push({ code: 'other_secret', about: secretId, secretId })
  if (provider !== delivery.provider) deviations.push({ code: 'other_provider', about: provider, secretId })
  if (state === 'retired') deviations.push({ code: 'secret_retired', secretId })
  if (state === 'revoked') deviations.push({ code: 'secret_revoked', secretId })
  return deviations
}

/** True where X-Signature-Id names the secret. */
export function isNamed(secret: KnownSecret, { signatureId }: RefusedDelivery): boolean {
  return secret.id.toLowerCase() === signatureId.trim().toLowerCase()
}

/** True for a time in milliseconds of this age: until 2286 they have thirteen digits, and seconds have ten. */
export function isMilliseconds(timestamp: string): boolean {
  return /^\d{13}$/.test(timestamp)
}
