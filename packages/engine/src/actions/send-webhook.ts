import { Type } from 'typebox'
import { maxCaptured, recordedName, recordedNameError } from '../results/recorded.js'
import { compileBody } from '../templates/body-template.js'
import { findCredentialFault } from '../templates/credential-fault.js'
import { httpUrl } from '../templates/formats.js'
import { compileTextField, constantTemplate } from '../templates/template.js'
import { compileUrl } from '../templates/url-template.js'
import { cutText } from '../texts/cut-text.js'
import { maxPathLength, parsePath } from '../values/path.js'
import type { ActionDefinition } from './action-definition.js'

// Latin-1 without control characters and line breaks: an HTTP header can carry no more.
const headerValue = '^[\\t\\x20-\\x7e\\x80-\\xff]*$'

// A rule cannot set headers that frame or route the request, or that let the receiver detect a repeat or a forgery.
const reservedNames = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'idempotency-key',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]
/** A path of a response. */
const responsePath = '^(?:body|headers)(?:[.[][^{}]*)?$'
const beResponsePath = 'be a path of the response, such as body.id, body.items[0].id or headers.etag'

const headerName = `^(?!(?:${reservedNames.map(inAnyCase).join('|')})$)[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,100}$`

export const sendWebhook = {
  type: 'SEND_WEBHOOK',
  doneBy: 'call',
  description:
    'Sends an HTTP request. Any 2xx is success. Every attempt has the same Idempotency-Key header. Private addresses cannot be reached.',
  example: {
    url: 'https://crm.example.com/leads/{{id | urlencode}}',
    method: 'PUT',
    headers: { authorization: 'Bearer abc' },
    body: { name: '{{name}}', score: '{{score}}' },
  },
  config: Type.Object(
    {
      url: Type.String({ minLength: 1, maxLength: 2000, description: 'http or https URL' }),
      method: Type.Optional(
        Type.Enum(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], { description: 'Default: POST' }),
      ),
      headers: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 50,
          patternProperties: {
            [headerName]: {
              type: 'string',
              maxLength: 2000,
              pattern: headerValue,
              patternError:
                'have only characters of ISO 8859-1 and no line break: a header carries no others',
            },
          },
          additionalProperties: false,
          patternError: `have another name: at most 100 letters, digits and !#$%&'*+.^_\`|~-, and none of these, which the service sets: ${reservedNames.join(', ')}`,
          description: 'Headers of the request. Names that frame, route or sign the request are reserved.',
        }),
      ),
      body: Type.Optional(
        Type.Unknown({ description: 'Any JSON value. Its strings may contain placeholders.' }),
      ),
      capture: Type.Optional(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: maxCaptured,
          patternProperties: {
            [recordedName]: {
              type: 'string',
              maxLength: maxPathLength,
              pattern: responsePath,
              patternError: beResponsePath,
            },
          },
          additionalProperties: false,
          patternError: `have another name: it must ${recordedNameError}`,
          description: `What later actions read of the response, as {{captured.NAME}}: paths such as body.id or headers.etag, by names. The body must be JSON of at most 256 KiB, and the values of a response have at most 4 KiB together. At most ${maxCaptured} in a rule.`,
        }),
      ),
      timeoutMs: Type.Optional(
        Type.Integer({ minimum: 100, maximum: 30_000, description: 'Timeout of one attempt' }),
      ),
    },
    { additionalProperties: false },
  ),
  formats: { url: httpUrl },
  templates: {
    url: (text) => compileUrl(text),
    headers: (text) => compileTextField(text, { credentials: true }),
    body: compileBody,
    capture: constantTemplate,
  },
  findFault: (config) => findCredentialFault(config) ?? findCaptureFault(config.capture),
} as const satisfies ActionDefinition

/** Takes any shape, and finds what the pattern lets through. */
function findCaptureFault(capture: unknown): { field: string; message: string } | undefined {
  if (typeof capture !== 'object' || capture === null) return undefined
  for (const [name, path] of Object.entries(capture)) {
    if (typeof path !== 'string' || !new RegExp(responsePath).test(path)) continue
    const [root, ...keys] = parsePath(path) ?? []
    const isPath = root === 'body' || (root === 'headers' && keys.length === 1)
    if (!isPath) return { field: `capture.${cutText(name, 64)}`, message: `must ${beResponsePath}` }
  }
  return undefined
}

/** A pattern of JSON schema has no flag for ignoring case. */
function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
}
