import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts values that the service has to read again, so that a copy of the database alone reveals none of them. */
export interface Sealer {
  /** @param context the owner of the value; it cannot be opened under another context */
  seal(plain: Buffer, context: string): Buffer<ArrayBuffer>
  /** @throws Error where the key or the context differs, or a byte was changed */
  open(sealed: Uint8Array, context: string): Buffer
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Creates a sealer with AES-256-GCM. A sealed value is a random nonce (12 bytes), the tag (16 bytes), then the encrypted bytes.
 *
 * @param encryptionKey 32 bytes in base64
 */
export function createSealer(encryptionKey: string): Sealer {
  const key = Buffer.from(encryptionKey, 'base64')
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
      const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
    },
  }
}
