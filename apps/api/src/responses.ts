import { orNull } from '@automation/access'
import { Type } from 'typebox'

export const FieldError = Type.Object(
  { field: Type.String(), message: Type.String() },
  { title: 'FieldError' },
)

export const DataWarnings = Type.Optional(
  Type.Array(FieldError, {
    description:
      'Data that was stored in a different form: a number with more digits than a double can keep is stored as a string with the same digits. Absent if there are none.',
  }),
)

/** The bodies of error responses, for the OpenAPI document. Each route names the statuses that it may return. */
const ErrorBody = Type.Object({ error: Type.String() }, { title: 'Error' })
const FaultsBody = Type.Object({ errors: Type.Array(FieldError) }, { title: 'ValidationError' })

const described = {
  400: { ...ErrorBody, 'x-response-description': 'Invalid input' },
  401: { ...ErrorBody, 'x-response-description': 'Missing or invalid token' },
  403: { ...ErrorBody, 'x-response-description': 'Insufficient permissions' },
  404: { ...ErrorBody, 'x-response-description': 'Not found' },
  409: { ...ErrorBody, 'x-response-description': 'Conflict with the current state' },
  412: {
    ...ErrorBody,
    'x-response-description': 'If-Match is outdated: what you change has changed since you read it',
  },
  413: { ...ErrorBody, 'x-response-description': 'Body too large' },
  415: { ...ErrorBody, 'x-response-description': 'The content type is not application/json' },
  422: { ...FaultsBody, 'x-response-description': 'Invalid data format' },
  429: {
    ...ErrorBody,
    'x-response-description': 'Rate limit exceeded. Retry-After contains the seconds to wait.',
  },
  500: {
    ...ErrorBody,
    'x-response-description': 'Internal error. The logs contain it under the x-request-id of the response.',
  },
  503: {
    ...ErrorBody,
    'x-response-description': 'Temporarily unavailable. Retry-After contains the seconds to wait.',
  },
}

type Status = keyof typeof described
const everywhere = [400, 401, 403, 429, 500, 503] as const

/** The error responses of one route: those that every route may return, and the named ones. */
export function refusalResponses<Extra extends Status = never>(...extra: Extra[]) {
  const statuses: Status[] = [...everywhere, ...extra]
  return Object.fromEntries(statuses.map((status) => [status, described[status]])) as Pick<
    typeof described,
    (typeof everywhere)[number] | Extra
  >
}

export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 with milliseconds' })
export const Id = Type.String({ format: 'uuid' })

/** Newest first, by keyset: the cursor is the last id of a page, made opaque. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 250, description: 'Maximum number of items on the page' }),
  ),
  cursor: Type.Optional(Type.String({ description: 'nextCursor of the previous page' })),
}
export const NextCursor = Type.Optional(orNull(Type.String({ description: 'null on the last page' })))
