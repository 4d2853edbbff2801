import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'
import { readKeyList } from './key-list.js'

/** Encrypts values that the service has to read again, so that a copy of the database alone reveals none of them. */
export interface Sealer {
  /** @param context the owner of the value; it cannot be opened under another context */
  seal(plain: Buffer, context: string): Buffer<ArrayBuffer>
  /** @throws Error where no key fits or the context differs, or a byte was changed */
  open(sealed: Uint8Array, context: string): Buffer
  /** @returns the value sealed with the first key; undefined where it is already. @throws Error like open */
  reseal(sealed: Uint8Array, context: string): Buffer<ArrayBuffer> | undefined
  /** A hash by which nobody can guess the text without the first key. */
  digest(text: string): string
}

const algorithm = 'aes-256-gcm'
/** The first byte of a value that carries the id of its key. */
const version = Buffer.from([1])
const idBytes = 4
const headBytes = version.length + idBytes
const nonceBytes = 12
const tagBytes = 16

interface Key {
  bytes: Buffer
  /** The first bytes of a value that this key has sealed: the version, and the first four bytes of the key's SHA-256. */
  head: Buffer
}

/**
 * Creates a sealer with AES-256-GCM. A sealed value is a version byte (1), the id of its key (4 bytes), a random nonce (12 bytes),
 * the tag (16 bytes), then the encrypted bytes.
 *
 * @param encryptionKey the value of ENCRYPTION_KEY: keys of 32 bytes in base64, separated by commas
 */
export function createSealer(encryptionKey: string): Sealer {
  const keys = readKeyList(encryptionKey).map(readKey)
  const [first] = keys as [Key]
  const digestKey = createHmac('sha256', first.bytes).update('digest').digest()
  return {
    seal: (plain, context) => seal(first, plain, context),
    open: (sealed, context) => open(keys, Buffer.from(sealed), context).plain,
    reseal(sealed, context) {
      const { plain, sealedBy } = open(keys, Buffer.from(sealed), context)
      return sealedBy === first ? undefined : seal(first, plain, context)
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('hex'),
  }
}

function readKey(text: string): Key {
  const bytes = Buffer.from(text, 'base64')
  return { bytes, head: Buffer.concat([version, hash('sha256', bytes, 'buffer').subarray(0, idBytes)]) }
}

function seal({ bytes, head }: Key, plain: Buffer, context: string): Buffer<ArrayBuffer> {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, bytes, nonce).setAAD(Buffer.from(context))
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([head, nonce, cipher.getAuthTag(), encrypted])
}

/** Opens a value with the key that it names. The ids of two keys may be the same, so each key of this id is tried. */
function open(keys: Key[], sealed: Buffer, context: string): { plain: Buffer; sealedBy: Key } {
  for (const key of keys) {
    if (!sealed.subarray(0, headBytes).equals(key.head)) continue
    const plain = decrypt(key, sealed.subarray(headBytes), context)
    if (plain) return { plain, sealedBy: key }
  }
  throw new Error('No key of ENCRYPTION_KEY decrypts this value')
}

function decrypt({ bytes }: Key, sealed: Buffer, context: string): Buffer | undefined {
  try {
    const decipher = createDecipheriv(algorithm, bytes, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(context))
      .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
