import { createHmac, timingSafeEqual } from 'node:crypto'
import { listAttempts } from './attempts.js'
import type { Claim } from './claims.js'
import type { Deviation } from './findings.js'
import type { Signing } from './mistakes.js'
import type { KnownSecret, RefusedDelivery } from './refused-delivery.js'

/** The remaining cost of a search, whatever was sent. */
export interface Budget {
  bytes: number
}

const searchBytes = 8 * 1024 * 1024
/** The cost of a hash apart from its content. It limits a search to 4,096 hashes: 15 to 40 ms. */
const bytesPerHash = 2048

/**
 * Tries what a sender may have signed until the digest equals one of the claims. Attempts with the fewest deviations come
 * first, so the result is the nearest miss.
 *
 * @returns undefined if no attempt matches within the budget
 */
export function findNearMiss(
  delivery: RefusedDelivery,
  secrets: KnownSecret[],
  claims: Claim[],
  budget: Budget = { bytes: searchBytes },
): Deviation[] | undefined {
  const algorithms = new Set(claims.map(({ algorithm }) => algorithm))
  if (algorithms.size === 0) return undefined
  for (const { attempt, deviations } of listAttempts(delivery, secrets)) {
    for (const algorithm of algorithms) {
      if (!spend(budget, attempt)) return undefined
      const digest = hash(algorithm, attempt)
      const hit = claims.find((claim) => claim.algorithm === algorithm && startsWith(digest, claim.bytes))
      if (hit) return [...deviations, ...hit.deviations]
    }
  }
  return undefined
}

function spend(budget: Budget, { id, body }: Signing): boolean {
  const cost = bytesPerHash + id.length + body.length
  if (cost > budget.bytes) return false
  budget.bytes -= cost
  return true
}

function hash(algorithm: Claim['algorithm'], attempt: Signing): Buffer {
  const hmac = createHmac(algorithm, attempt.key)
  for (const [index, part] of attempt.parts.entries()) {
    if (index > 0) hmac.update(attempt.separator)
    hmac.update(attempt[part])
  }
  return hmac.update(attempt.ending).digest()
}

function startsWith(digest: Buffer, bytes: Buffer): boolean {
  return timingSafeEqual(digest.subarray(0, bytes.length), bytes)
}
