/** Why a token is not accepted. Only somebody who has the token reads it, in `WWW-Authenticate`; the response is the same for all. */
export interface TokenFault {
  fault: string
}

export const noToken = 'The header Authorization has no Bearer token'
export const unknownKey = 'The API key is unknown, expired or revoked'
export const unknownSession = 'The token of the embed session is unknown, or the session is over'
const rejected = 'The signature, algorithm or key of the token is not accepted'

/** By the codes of fast-jwt and jose. Both check the signature before the claims, so a claim is checked only in a token that was signed here. */
const sentences: Record<string, string> = {
  FAST_JWT_EXPIRED: 'The token has expired',
  ERR_JWT_EXPIRED: 'The token has expired',
  FAST_JWT_INACTIVE: 'The token is not valid yet',
  FAST_JWT_MALFORMED: 'The token is malformed',
  FAST_JWT_INVALID_TYPE: 'The token is malformed',
  FAST_JWT_INVALID_PAYLOAD: 'The token is malformed',
  ERR_JWS_INVALID: 'The token is malformed',
  ERR_JWT_INVALID: 'The token is malformed',
  FAST_JWT_INVALID_CLAIM_TYPE: 'A claim of the token is not accepted',
  FAST_JWT_INVALID_CLAIM_VALUE: 'A claim of the token is not accepted',
  FAST_JWT_MISSING_REQUIRED_CLAIM: 'The token lacks a claim: exp, sub, iss and aud are required',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'A claim of the token is not accepted',
}

export function describeTokenFault(error: unknown): TokenFault {
  const { code = '' } = error as { code?: string }
  return { fault: sentences[code] ?? rejected }
}

/** A token may be signed with any of several secrets: what the others say of its signature does not matter. */
export function chooseFault(faults: TokenFault[]): TokenFault {
  return faults.find(({ fault }) => fault !== rejected) ?? { fault: rejected }
}
