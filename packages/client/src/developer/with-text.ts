import { ApiError } from '../api-error.js'

/**
 * The text of a credential is in the first response alone. A response that was lost on the way is sent again without it.
 *
 * @throws ApiError with the id of the credential that exists, and that nobody can use
 */
export function withText<Field extends string, Body extends { id: string } & Record<Field, string | null>>(
  body: Body,
  field: Field,
): Body & Record<Field, string> {
  if (body[field] !== null) return body as Body & Record<Field, string>
  throw new ApiError(
    `${body.id} was created, and the response with its ${field} was lost: revoke it and create another`,
    201,
  )
}
