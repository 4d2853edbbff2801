import { credentialContext, type Sealer, type SecretParts } from '@automation/access'

/** An access token. Its id is another one with each token. */
export interface Token {
  readonly id: string
  readonly text: string
}

/** A credential, opened. */
export interface OpenCredential {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly parts: SecretParts
  /** The parts as they are stored: equal for equal parts of the same change. */
  readonly sealed: Uint8Array
  /** Of kind oauth2: its access token, if there is one that may be used. */
  readonly token: Token | undefined
}

/** The row of a credential, for an attempt. */
export interface StoredCredential {
  id: string
  workspaceId: string
  name: string
  sealed: Uint8Array
  /** null where its time is over. */
  token: Uint8Array | null
  tokenId: string | null
  lastUsedAt: Date | null
}

/** No message has a value. */
export function openCredential(
  sealer: Sealer,
  row: StoredCredential,
): OpenCredential | { fault: string; isFinal: boolean } {
  const { id, workspaceId, name, sealed } = row
  try {
    const parts = JSON.parse(sealer.open(sealed, credentialContext(row)).toString()) as SecretParts
    return { id, workspaceId, name, parts, sealed, token: openToken(sealer, row) }
  } catch {
    return { fault: `The credential ${name} cannot be decrypted with this ENCRYPTION_KEY`, isFinal: false }
  }
}

/** A token that does not open is replaced like one that has expired. */
function openToken(sealer: Sealer, row: StoredCredential): Token | undefined {
  const { token, tokenId } = row
  if (token === null || tokenId === null) return undefined
  try {
    return { id: tokenId, text: sealer.open(token, tokenContext(row)).toString() }
  } catch {
    return undefined
  }
}

/** The context of a sealed token. */
export function tokenContext({ id, workspaceId }: { id: string; workspaceId: string }): string {
  return `credential-token/${workspaceId}/${id}`
}
