import { timingSafeEqual } from 'node:crypto'
import {
  countSpellings,
  isBodyCovered,
  listSignedParts,
  readSignatures,
  type SchemeInUse,
  type SchemeRequest,
  signParts,
} from './scheme-request.js'

/**
 * Whether one of the signatures of a request is right. It computes as many HMACs as its scheme has spellings of a URL, whatever was sent. Signatures
 * are compared as texts: base64 has several spellings of the same bytes.
 *
 * @param hmacs so many are computed, if that is more: what another scheme would cost
 */
export function verifyByScheme(inUse: SchemeInUse, key: Buffer, request: SchemeRequest, hmacs = 1): boolean {
  const { scheme } = inUse
  const spellings = countSpellings(scheme)
  const sent = readSignatures(scheme, request.headers).map((text) =>
    Buffer.from(scheme.signature.encoding === 'hex' ? text.toLowerCase() : text),
  )
  let isRight = false
  for (let at = 0; at < Math.max(spellings, hmacs); at++) {
    const parts = listSignedParts(inUse, request, at % spellings)
    const expected = Buffer.from(signParts(scheme, key, parts))
    for (const one of sent)
      if (one.length === expected.length && timingSafeEqual(one, expected)) isRight = true
  }
  return isRight && isBodyCovered(scheme, request)
}
