import { Type } from 'typebox'

// routes/responses.ts of the API has its own `Timestamp` and `orNull`: this package must not depend on an app, and its schemas need both.
export const Timestamp = Type.String({ format: 'date-time' })

export function orNull<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** The times of a key or a secret; null where that has not happened. */
export const credentialTimes = {
  createdAt: Timestamp,
  revokedAt: orNull(Timestamp),
  lastUsedAt: orNull(
    Type.String({ format: 'date-time', description: 'Time of the last use, accurate to one minute' }),
  ),
}

interface CredentialRow {
  createdAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
}

export function presentTimes({ createdAt, revokedAt, lastUsedAt }: CredentialRow) {
  return {
    createdAt: createdAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}
