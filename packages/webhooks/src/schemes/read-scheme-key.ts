import { readSigningKey } from '../signature.js'
import type { Scheme } from './scheme.js'

/** The key in the text of a secret. @returns undefined where the text is none of this scheme */
export function readSchemeKey({ key }: Pick<Scheme, 'key'>, secret: string): Buffer | undefined {
  if (key === 'text') return Buffer.from(secret)
  if (key === 'whsec') return readWhsec(secret)
  const bytes = Buffer.from(secret, key)
  const isSame = bytes.toString(key).replace(/=+$/, '') === secret.replace(/=+$/, '')
  return bytes.length > 0 && isSame ? bytes : undefined
}

/** Libraries take the secret with its prefix and without. */
function readWhsec(secret: string): Buffer | undefined {
  try {
    return readSigningKey(secret.startsWith('whsec_') ? secret : `whsec_${secret}`)
  } catch {
    return undefined
  }
}
