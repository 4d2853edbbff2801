import { randomBytes } from 'node:crypto'

/** In each secret of a storm, and in nothing else. */
export const secretWord = `canary-${randomBytes(9).toString('hex')}`

/** The credential KEY of each workspace, and what the token endpoint wants to see for the credential ACCESS. */
export const key = `${secretWord}-key/+ "&`
export const clientSecret = `${secretWord}-client`

/** Longer than an attempt takes, also one whose worker sleeps: a call that was refused must not be refused again with the next token. */
const lifeMs = 30_000

/** The access tokens that a target grants. After a while it takes the latest back: the calls of that moment need another one. */
export class AccessTokens {
  readonly #granted = new Map<string, number>()

  grant(): string {
    const token = `${secretWord}-token-${this.#granted.size}`
    this.#granted.set(token, Date.now())
    return token
  }

  isRefused(authorization: string | undefined): boolean {
    const token = authorization?.replace('Bearer ', '') ?? ''
    const since = this.#granted.get(token)
    return since !== undefined && Date.now() - since > lifeMs
  }
}

/** What a receiver makes of the secrets that it gets, which nobody may keep: a list of them in all forms, with what confuses a reader. */
export function echoSecrets(...secrets: string[]): { key: string | undefined; forms: string[] } {
  const forms = secrets.flatMap((text) => [
    `${text}\0{{credentials.KEY}}`,
    encodeURIComponent(text),
    encodeURIComponent(encodeURIComponent(text)),
    JSON.stringify(text),
    ...['', ':', '::'].map((before) => Buffer.from(before + text).toString('base64')),
    Buffer.from(text).toString('base64url'),
  ])
  return { key: secrets[0], forms }
}

/** The forms in which the word is searched for: itself, in Base64 at each of its three places, and as the bytes of a column. */
export const searchedForms: readonly string[] = [
  secretWord,
  ...[0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(secretWord)]).toString('base64')
    return encoded.slice(offset === 0 ? 0 : offset + 1, -4)
  }),
  Buffer.from(secretWord).toString('hex'),
]

/** @returns the forms that the bytes have */
export function findSecrets(bytes: Buffer | string): string[] {
  return searchedForms.filter((form) => bytes.includes(form))
}
