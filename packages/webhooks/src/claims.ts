import type { Deviation, SignatureFindingCode } from './findings.js'

/** Bytes that a header presents as a signature, and what is wrong with their notation. */
export interface Claim {
  algorithm: 'sha256' | 'sha1' | 'sha512'
  /** A digest of the algorithm, or its beginning. */
  bytes: Buffer
  deviations: Deviation[]
}

/** Everything in an X-Signature that could be a signature, in correct notation or not; the most correct first. */
export function readClaims(header: string): Claim[] {
  // Standard Webhooks writes `v1,<base64>`. Our header is split at commas, which makes its `v1` a separate part.
  const isStandard = /(?:^|[\s,])v1,/.test(header)
  const claims = header.split(',', maxSignatures).flatMap((part) => readPart(part, isStandard))
  return claims.sort((one, other) => one.deviations.length - other.deviations.length)
}

const maxSignatures = 16
/** Half a digest. A shorter one could be guessed, and an attacker could read here that a guess was right. */
const minTruncatedBytes = 16

function readPart(part: string, isStandard: boolean): Claim[] {
  const match = /^(.*?)(?<![\w+/-])([\w+/-]{22,}={0,2})(?![\w+/=-])(.*)$/s.exec(part)
  if (!match) return []
  const [, before = '', text = '', after = ''] = match
  const isAlone = /^\s*(?:v1=)?$/i.test(before) && after.trim() === ''
  for (const { pattern, codes, decode } of encodings) {
    const bytes = pattern.test(text) ? decode(text) : Buffer.alloc(0)
    const isHex = codes.length === 0
    const faults = isStandard && !isHex ? standardCodes : isAlone ? codes : [...codes, ...extraTextCodes]
    const possible = isHex ? [...digests, ...truncatedDigests] : digests
    const claims = possible
      .filter((digest) => digest.fits(bytes.length))
      .map((digest) => ({
        algorithm: digest.algorithm,
        bytes,
        deviations: [...faults, ...digest.codes].map((code) => ({ code })),
      }))
    if (claims.length > 0) return claims
  }
  return []
}

interface Encoding {
  pattern: RegExp
  codes: SignatureFindingCode[]
  decode: (text: string) => Buffer
}

interface Digest {
  algorithm: Claim['algorithm']
  codes: SignatureFindingCode[]
  fits: (bytes: number) => boolean
}

const standardCodes: SignatureFindingCode[] = ['signature_standard_webhooks']
const extraTextCodes: SignatureFindingCode[] = ['signature_prefix']

// The first encoding that yields a digest wins.
const encodings: Encoding[] = [
  { pattern: /^[0-9a-f]+$/i, codes: [], decode: (text) => Buffer.from(text, 'hex') },
  { pattern: /^[A-Za-z0-9+/]+={0,2}$/, codes: ['signature_base64_of_hex'], decode: decodeHexInBase64 },
  {
    pattern: /^(?=.*[+/=])[A-Za-z0-9+/]+={0,2}$/,
    codes: ['signature_base64'],
    decode: (text) => Buffer.from(text, 'base64'),
  },
  {
    pattern: /^[\w-]+={0,2}$/,
    codes: ['signature_base64url'],
    decode: (text) => Buffer.from(text, 'base64url'),
  },
]

const digests: Digest[] = [
  { algorithm: 'sha256', codes: [], fits: (bytes) => bytes === 32 },
  { algorithm: 'sha1', codes: ['signature_sha1'], fits: (bytes) => bytes === 20 },
  { algorithm: 'sha512', codes: ['signature_sha512'], fits: (bytes) => bytes === 64 },
]

const truncatedDigests: Digest[] = [
  {
    algorithm: 'sha256',
    codes: ['signature_truncated'],
    fits: (bytes) => bytes >= minTruncatedBytes && bytes < 32,
  },
]

function decodeHexInBase64(text: string): Buffer {
  const hex = Buffer.from(text, 'base64').toString('latin1')
  return Buffer.from(/^[0-9a-f]{40,}$/i.test(hex) ? hex : '', 'hex')
}
