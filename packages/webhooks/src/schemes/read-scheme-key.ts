import { readSigningKey } from '../signature.js'
import type { Scheme } from './scheme.js'

/** @param secret its text, or what is stored of it @returns its key; undefined where the text is none of this scheme */
export function readSchemeKey({ key }: Pick<Scheme, 'key'>, secret: string | Buffer): Buffer | undefined {
  if (key === 'text' || key === 'bytes') return Buffer.from(secret)
  const text = secret.toString()
  if (key === 'whsec') return readWhsec(text)
  const bytes = Buffer.from(text, key)
  const isSame = bytes.toString(key).replace(/=+$/, '') === text.replace(/=+$/, '')
  return bytes.length > 0 && isSame ? bytes : undefined
}

/** Libraries take the secret with its prefix and without. Some providers show it behind the version of the signature. */
function readWhsec(secret: string): Buffer | undefined {
  try {
    const text = secret.replace(/^v1,(?=whsec_)/, '')
    return readSigningKey(text.startsWith('whsec_') ? text : `whsec_${text}`)
  } catch {
    return undefined
  }
}
