import { readClaims } from './claims.js'
import { type Deviation, presentAll, type SignatureFinding } from './findings.js'
import { findForeignScheme } from './foreign-scheme.js'
import { findNearMiss } from './near-miss.js'
import {
  isMilliseconds,
  isNamed,
  type KnownSecret,
  listDeviations,
  type RefusedDelivery,
} from './refused-delivery.js'

/**
 * The signature doctor: explains why a refused delivery nearly matched. Its work is bounded (it hashes 8 MiB at most), and
 * it throws on no input. Its findings contain ids of secrets and names of providers, but never a key or the correct
 * signature. They are for admins only, nevertheless.
 *
 * @param secrets all secrets of the workspace: a delivery is often signed with another secret than it names
 */
export function diagnose(delivery: RefusedDelivery, secrets: KnownSecret[]): SignatureFinding[] {
  const claims = readClaims(delivery.signature)
  const nearMiss = findNearMiss(delivery, secrets, claims)
  const named = secrets.find((secret) => isNamed(secret, delivery))
  const foreign = findForeignScheme(delivery)
  const visible = inspectHeaders(delivery, named !== undefined, claims.length > 0)
  if (nearMiss) {
    const deviations = [...visible, ...nearMiss]
    return presentAll(deviations.length > 0 ? [...foreign, ...deviations] : [{ code: 'signature_matches' }])
  }
  // A sender that has headers of its own needs no list of ours.
  if (foreign.length > 0 && delivery.signature === '') return presentAll(foreign)
  const ofSecret = named ? listDeviations(named, delivery) : []
  const unexplained: Deviation[] = claims.length > 0 ? [{ code: 'no_match' }] : []
  return presentAll([...foreign, ...visible, ...ofSecret, ...(claims[0]?.deviations ?? []), ...unexplained])
}

/** What can be said about a delivery whose body was not read. */
export function diagnoseHeaders(delivery: RefusedDelivery): SignatureFinding[] {
  return presentAll(findForeignScheme(delivery))
}

/** The deviations that are visible without any hashing. */
function inspectHeaders(delivery: RefusedDelivery, isIdKnown: boolean, hasClaim: boolean): Deviation[] {
  const { id, timestamp, signature, signatureId } = delivery
  return [
    ...inspectHeader('X-Idempotency-Key', id, []),
    ...inspectHeader('X-Timestamp', timestamp, [
      [isMilliseconds(timestamp), 'timestamp_milliseconds'],
      [!isMilliseconds(timestamp) && !/^\d{1,11}$/.test(timestamp), 'timestamp_malformed'],
    ]),
    ...inspectHeader('X-Signature-Id', signatureId, [[!isIdKnown, 'unknown_signature_id']]),
    ...inspectHeader('X-Signature', signature, [[!hasClaim, 'not_a_signature']]),
  ]
}

function inspectHeader(header: string, value: string, checks: [boolean, Deviation['code']][]): Deviation[] {
  if (value.trim() === '') return [{ code: 'header_missing', about: header }]
  return checks.filter(([applies]) => applies).map(([, code]) => ({ code }))
}
