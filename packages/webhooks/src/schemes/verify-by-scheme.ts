import { timingSafeEqual } from 'node:crypto'
import {
  isBodyCovered,
  listSignedParts,
  readSignatures,
  type SchemeInUse,
  type SchemeRequest,
  signParts,
} from './scheme-request.js'

/**
 * Whether one of the signatures of a request is right. It computes one HMAC, whatever was sent. Signatures are compared as texts: base64 has
 * several spellings of the same bytes.
 */
export function verifyByScheme(inUse: SchemeInUse, key: Buffer, request: SchemeRequest): boolean {
  const { scheme } = inUse
  const expected = Buffer.from(signParts(scheme, key, listSignedParts(inUse, request)))
  let isRight = false
  for (const text of readSignatures(scheme, request.headers)) {
    const sent = Buffer.from(scheme.signature.encoding === 'hex' ? text.toLowerCase() : text)
    if (sent.length === expected.length && timingSafeEqual(sent, expected)) isRight = true
  }
  return isRight && isBodyCovered(scheme, request)
}
