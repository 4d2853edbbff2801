import { ApiError, type FieldError } from './api-error.js'
import type { RawResponse } from './attempt.js'
import { addHint, readHint } from './read-hint.js'

/** The body of a success. @throws ApiError for any other response; a proxy may send anything */
export function readResponseBody(arrival: RawResponse, method: string): unknown {
  const { status, headers, text } = arrival
  const body = parse(text)
  if (isSuccess(arrival, method, body)) return body
  const { error, errors } = isObject(body) ? body : {}
  const faults = isFieldErrors(errors) ? errors : undefined
  const message = isText(error)
    ? error
    : faults?.map((fault) => `${fault.field}: ${fault.message}`).join('; ')
  const requestId = headers.get('x-request-id')
  const retryAfterSeconds = readRetryAfter(headers)
  const isOurs = message !== undefined
  const hint = isOurs ? readHint(headers) : undefined
  throw new ApiError(isOurs ? addHint(message, hint) : describeForeign(arrival), status, {
    code: isOurs ? (headers.get('x-error-code') ?? undefined) : undefined,
    hint,
    ...(faults === undefined ? {} : { errors: faults }),
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/** The successes of the API: 200 with a JSON object; 201 and 202 only for a write, and 204 without a body for a deletion. */
function isSuccess({ status, text }: RawResponse, method: string, body: unknown): boolean {
  if (status === 204) return method === 'DELETE' && text === ''
  return isObject(body) && (status === 200 || (method !== 'GET' && (status === 201 || status === 202)))
}

export function describeForeign({ status, headers }: Pick<RawResponse, 'status' | 'headers'>): string {
  const location = headers.get('location')
  const redirect = status >= 300 && status < 400 ? ` (a redirect${location ? ` to ${location}` : ''})` : ''
  return `Not a response of the API: ${status}${redirect}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isFieldErrors(value: unknown): value is FieldError[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isObject(one) && typeof one.field === 'string' && isText(one.message))
  )
}

/** Seconds, or a date, which is compared with the date of the response: this clock may be wrong. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const sentAt = Date.parse(headers.get('date') ?? '')
  const seconds = (Date.parse(text) - (Number.isNaN(sentAt) ? Date.now() : sentAt)) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}
