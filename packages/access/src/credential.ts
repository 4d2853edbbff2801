import { Type } from 'typebox'

export const Timestamp = Type.String({ format: 'date-time' })

export function orNull<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** What keys and secrets tell alike; null where nothing of the kind has happened. */
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
