import { Type } from 'typebox'

/** How refusals look, for the OpenAPI document. Each route names the ones that it may give. */
const ErrorAnswer = Type.Object({ error: Type.String() })
const FaultsAnswer = Type.Object({
  errors: Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
})

const described = {
  400: { ...ErrorAnswer, description: 'Invalid input' },
  401: { ...ErrorAnswer, description: 'Missing or invalid token' },
  403: { ...ErrorAnswer, description: 'Insufficient permissions' },
  404: { ...ErrorAnswer, description: 'Not found' },
  409: { ...ErrorAnswer, description: 'Conflict with what is there' },
  412: { ...ErrorAnswer, description: 'If-Match names another version' },
  413: { ...ErrorAnswer, description: 'Body too large' },
  415: { ...ErrorAnswer, description: 'Not application/json' },
  422: { ...FaultsAnswer, description: 'Invalid data format' },
  429: { ...ErrorAnswer, description: 'Rate limit exceeded; see Retry-After' },
  500: { ...ErrorAnswer, description: 'Internal failure; see x-request-id' },
  503: { ...ErrorAnswer, description: 'Temporarily unavailable; see Retry-After' },
}

type Status = keyof typeof described
const everywhere = [400, 401, 403, 429, 500, 503] as const

/** The refusals of one route: those that any route may give, and the named ones. */
export function refusalResponses<Extra extends Status = never>(...extra: Extra[]) {
  const statuses: Status[] = [...everywhere, ...extra]
  return Object.fromEntries(statuses.map((status) => [status, described[status]])) as Pick<
    typeof described,
    (typeof everywhere)[number] | Extra
  >
}

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 with milliseconds' })
export const Id = Type.String({ format: 'uuid' })

/** `null` where nothing happened yet. */
export function orNull<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** Newest first, by keyset: the cursor is the last id of a page, made opaque. */
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 250 })),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before' })),
}
export const NextCursor = Type.Optional(orNull(Type.String({ description: 'null on the last page' })))
