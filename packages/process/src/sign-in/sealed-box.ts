import { hkdfSync } from 'node:crypto'
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'

/** Encrypts what a browser keeps for the console. Only who has CONSOLE_SECRET can make or read it. */
export interface SealedBox<Content extends object> {
  /** @param expiresAt s since 1970 */
  seal(content: Content, expiresAt: number): Promise<string>
  /** @returns undefined for any text that was not sealed for this purpose, was changed or has expired */
  open(sealed: string): Promise<(Content & { exp: number }) | undefined>
}

/**
 * Creates a box for one purpose: each has a key of its own, so that a link cannot be used as a session.
 *
 * @param secrets the value of CONSOLE_SECRET: of several, separated by commas, the first seals and all open
 * @param purpose 'link', 'session' or another word
 */
export function createBox<Content extends object>(secrets: string, purpose: string): SealedBox<Content> {
  const keys = secrets.split(',').map((secret) => deriveKey(secret.trim(), purpose))
  const [first] = keys as [Uint8Array]
  return {
    seal: (content, expiresAt) =>
      new EncryptJWT({ ...content } as JWTPayload)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(expiresAt)
        .encrypt(first),
    async open(sealed) {
      for (const key of keys) {
        const content = await decrypt<Content>(sealed, key)
        if (content) return content
      }
      return undefined
    },
  }
}

function deriveKey(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `automation-rules console ${purpose}`, 32))
}

async function decrypt<Content>(sealed: string, key: Uint8Array) {
  try {
    const options = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
    const { payload } = await jwtDecrypt(sealed, key, options)
    return payload.exp === undefined ? undefined : (payload as Content & { exp: number })
  } catch {
    return undefined
  }
}
