import { Type } from 'typebox'

export const DateTime = Type.String({ format: 'date-time' })

/** `null` if nothing happened yet. */
export function orNull<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** The times of a key or a secret; null where that has not happened. */
export const credentialTimes = {
  createdAt: DateTime,
  revokedAt: orNull(DateTime),
  lastUsedAt: orNull(
    Type.String({ format: 'date-time', description: 'Time of the last use, accurate to one minute' }),
  ),
}

/** The text of a credential, which the first response alone contains, and why a repeat of the request does not get it. */
export function textOnce<Name extends string>(name: Name, description: string) {
  const text = orNull(
    Type.String({
      description: `${description} Only this response contains it: in the response to a repeat of the request (\`Idempotent-Replayed: true\`) it is null.`,
    }),
  )
  const FieldError = Type.Object({ field: Type.String(), message: Type.String() }, { title: 'FieldError' })
  const warnings = Type.Optional(
    Type.Array(FieldError, { description: `Says why ${name} is null. Absent if it is not.` }),
  )
  return { [name]: text, warnings } as Record<Name, typeof text> & { warnings: typeof warnings }
}

/** Revoked keys and secrets stay, so that the audit log can name them. Their number has no limit, but a list has. */
const maxListed = 1_000

/**
 * Lists those in use, whose number has a limit, and the newest of the others.
 *
 * @param find finds the newest rows that meet, or do not meet, the condition of being in use
 * @returns at most 1,000 rows, the newest first
 */
export async function listNewest<Row extends { id: string }, Condition extends object>(
  inUse: Condition,
  find: (condition: Condition | { NOT: Condition }, take: number) => Promise<Row[]>,
): Promise<Row[]> {
  const usable = await find(inUse, maxListed)
  const others = await find({ NOT: inUse }, maxListed - usable.length)
  return [...usable, ...others].sort((left, right) => (left.id < right.id ? 1 : -1))
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
