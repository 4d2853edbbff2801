import { errorCodes } from '../error-codes.js'
import type { Document, Header, Operation, Response } from './document.js'
import { refusalNames } from './name-responses.js'

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

/** The headers that responses may have, as components. */
const headers: Record<string, Header> = {
  'x-request-id': { description: 'Identifies the request in the logs of the service', schema: text },
  'X-RateLimit-Limit': {
    description: 'Size of the bucket with the fewest tokens left: the most requests at once',
    schema: count,
  },
  'X-RateLimit-Remaining': { description: 'Tokens left in that bucket', schema: count },
  'X-RateLimit-Reset': { description: 'Seconds until that bucket is full', schema: count },
  'RateLimit-Policy': {
    description: 'The rate of that bucket: `60;w=60;burst=100` is 60 tokens in 60 s, and 100 at once',
    schema: text,
  },
  'Retry-After': { description: 'Seconds after which the request may be repeated', schema: count },
  'X-Error-Code': {
    description: 'The reason for programs, such as rule_not_found: texts may change, codes do not',
    schema: { $ref: '#/components/schemas/ErrorCode' },
  },
  'WWW-Authenticate': {
    description:
      'RFC 6750: why the token is not accepted, or which role and scope are needed, in `error_description` and `scope`',
    schema: text,
  },
  Link: {
    description:
      'RFC 8288. `rel="next"`: the next page of a list. `rel="help"`: on `invalid_trigger_type`, its title names the nearest event types',
    schema: text,
  },
  ETag: {
    description:
      'The state of what was read or changed: send it as If-Match with a change, or as If-None-Match with a read of the vocabulary',
    schema: text,
  },
  Location: { description: 'Path of what was created, or under which the outcome will be', schema: text },
  'Content-Location': {
    description: 'Path of the event or execution whose outcome this is: its last part is the id',
    schema: text,
  },
  'Preference-Applied': {
    description: 'RFC 7240: the part of `Prefer` that was applied; absent without one',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: 'true: this is the stored response to an earlier request with the same Idempotency-Key',
    schema: { type: 'string', enum: ['true'] },
  },
}

const ofEach = ['x-request-id']
const ofRates = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy']
const ofRefusals: Record<string, string[]> = {
  400: ['Link'],
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Adds the headers to all responses: those of refusals by their status. It runs after the error responses have names. */
export function addHeaders(document: Document): void {
  document.components.headers = headers
  document.components.schemas.ErrorCode = {
    type: 'string',
    description: 'Why a request was refused. More codes may come: treat an unknown one like its status.',
    'x-extensible-enum': Object.keys(errorCodes),
    'x-enumDescriptions': Object.fromEntries(
      Object.entries(errorCodes).map(([code, [, meaning]]) => [code, meaning]),
    ),
  }
  const { responses: refusals = {} } = document.components
  for (const [status, name] of Object.entries(refusalNames)) {
    const refusal = refusals[name]
    if (refusal) refer(refusal, ['X-Error-Code', ...ofEach, ...ofRates, ...(ofRefusals[status] ?? [])])
  }
  for (const methods of Object.values(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const names = [...ofEach, ...ofOperation(operation)]
      for (const response of Object.values(operation.responses))
        if (response.$ref === undefined)
          refer(response, method === 'get' && isPage(response, document) ? [...names, 'Link'] : names)
    }
}

function ofOperation({ security, parameters = [] }: Operation): string[] {
  const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key')
  return [...(security?.length === 0 ? [] : ofRates), ...(isKeyed ? ['Idempotent-Replayed'] : [])]
}

function isPage({ content }: Response, { components }: Document): boolean {
  const schema = content?.['application/json']?.schema
  const named = components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema
  return named?.properties?.nextCursor !== undefined
}

/** Adds headers to a response. */
export function refer(response: Response, names: string[]): void {
  const own = names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const)
  response.headers = { ...Object.fromEntries(own), ...response.headers }
}
