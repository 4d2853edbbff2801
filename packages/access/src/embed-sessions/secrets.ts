import { hash } from 'node:crypto'

/** SHA-256 suffices: a secret or token contains 32 random bytes, which nobody can guess. */
export function hashSecret(text: string): Buffer<ArrayBuffer> {
  return Buffer.from(hash('sha256', text, 'hex'), 'hex')
}

/** Reads the id from a text with the form of a session's token; undefined for any other text. */
export function readSessionId(token: string): string | undefined {
  return /^emb_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(token)?.[1]
}
