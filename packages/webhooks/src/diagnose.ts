import { readClaims } from './claims.js'
import { type Deviation, type Finding, tellFinding } from './findings.js'
import { findNearMiss } from './near-miss.js'
import {
  isMilliseconds,
  isNamed,
  judgeSecret,
  type KnownSecret,
  type RefusedDelivery,
} from './refused-delivery.js'

/**
 * The signature doctor: says why a refused delivery nearly matched. It does bounded work (hashing 8 MiB at most) and
 * throws on no input. It tells ids of secrets and names of providers, never a key or the signature that would have been
 * right; for admins alone all the same.
 *
 * @param secrets all of the workspace: a delivery is often signed with another one than it names
 */
export function diagnose(delivery: RefusedDelivery, secrets: KnownSecret[]): Finding[] {
  const claims = readClaims(delivery.signature)
  const nearMiss = findNearMiss(delivery, secrets, claims)
  const named = secrets.find((secret) => isNamed(secret, delivery))
  const seen = lookAtHeaders(delivery, named !== undefined, claims.length > 0)
  if (nearMiss) {
    const deviations = [...seen, ...nearMiss]
    return tellAll(deviations.length > 0 ? deviations : [{ code: 'signature_matches' }])
  }
  const doubts = named ? judgeSecret(named, delivery) : []
  const ends: Deviation[] = claims.length > 0 ? [{ code: 'no_match' }] : []
  return tellAll([...seen, ...doubts, ...(claims[0]?.deviations ?? []), ...ends])
}

/** What shows without any hashing. */
function lookAtHeaders(delivery: RefusedDelivery, isIdKnown: boolean, holdsClaim: boolean): Deviation[] {
  const { id, timestamp, signature, signatureId } = delivery
  return [
    ...lookAt('X-Idempotency-Key', id, []),
    ...lookAt('X-Timestamp', timestamp, [
      [isMilliseconds(timestamp), 'timestamp_milliseconds'],
      [!isMilliseconds(timestamp) && !/^\d{1,11}$/.test(timestamp), 'timestamp_malformed'],
    ]),
    ...lookAt('X-Signature-Id', signatureId, [[!isIdKnown, 'unknown_signature_id']]),
    ...lookAt('X-Signature', signature, [[!holdsClaim, 'not_a_signature']]),
  ]
}

function lookAt(header: string, value: string, checks: [boolean, Deviation['code']][]): Deviation[] {
  if (value.trim() === '') return [{ code: 'header_missing', about: header }]
  return checks.filter(([isSo]) => isSo).map(([, code]) => ({ code }))
}

/** Each once: what shows in a header may have been found by hashing too. */
function tellAll(deviations: Deviation[]): Finding[] {
  const findings = deviations.map(tellFinding)
  return [...new Map(findings.map((finding) => [finding.message, finding])).values()]
}
