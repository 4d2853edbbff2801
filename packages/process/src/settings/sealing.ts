import { Type } from 'typebox'

/** The keys that encrypt the signing secrets in the database. */
export const sealing = {
  ENCRYPTION_KEY: Type.String({
    pattern: '^[A-Za-z0-9+/]{43}=(\\s*,\\s*[A-Za-z0-9+/]{43}=)*$',
    description:
      '32 bytes in base64 that encrypt the signing secrets: openssl rand -base64 32; of several, separated by commas, the first encrypts and all decrypt',
  }),
}
