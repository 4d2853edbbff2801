import type { Dispatcher } from 'undici'
import { RefusedCall } from '../address-guard.js'
import { decompress } from '../decompress.js'
import type { HttpCaller } from '../http-caller.js'
import { readStart } from '../read-response.js'
import type { OpenCredential } from './open-credential.js'

/** Requests an access token. @returns it and how long (ms) it is used, or why there is none: a sentence without a value */
export type RequestToken = (
  credential: OpenCredential,
) => Promise<{ text: string; usableMs: number } | { fault: string; isFinal: boolean }>

const timeoutMs = 10_000
const maxResponseBytes = 65_536
/** Of a token whose end the endpoint does not say. */
const defaultSeconds = 300
const maxSeconds = 86_400
/** Before its end a token is replaced: a call takes time. */
const marginSeconds = 30

/** What an endpoint may say, in the words of RFC 6749. Anything else may be an echo of the secret. */
const knownErrors = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
  // Of GitHub and Slack, with status 200.
  'incorrect_client_credentials',
  'invalid_client_id',
  'bad_client_secret',
])
const passingErrors = new Set(['server_error', 'temporarily_unavailable'])

/** Types of tokens that are no bearer tokens: a call would be refused with them. All other words are taken for bearer, which most mean. */
const otherTypes = new Set(['mac', 'hmac', 'dpop', 'pop', 'n_a'])

/** Requests tokens by the client credentials grant of OAuth 2.0. No redirect is followed: it would lead the secret elsewhere. */
export function createTokenRequest(caller: HttpCaller): RequestToken {
  return async ({ name, parts }) => {
    const fail = (reason: string, isFinal = false) => {
      return { fault: `No access token for the credential ${name}: ${reason}`, isFinal }
    }
    const url = caller.readUrl(parts.tokenUrl ?? '')
    if (url instanceof RefusedCall) return fail(url.message, true)
    const called = await caller.call(
      url,
      { method: 'POST', ...composeRequest(parts), mayRepeat: true, isSecret: true },
      { timeoutMs },
      async ({ statusCode, headers, body }) => ({
        statusCode,
        headers,
        bytes: (await readStart(body, maxResponseBytes)).bytes,
      }),
      () => {},
    )
    if ('fault' in called) return fail(called.fault, called.isFinal)
    const { statusCode, headers, bytes } = called.result
    const fields = parseFields(bytes, headers)
    const isSuccess = statusCode >= 200 && statusCode < 300
    const error = typeof fields.error === 'string' && knownErrors.has(fields.error) ? fields.error : undefined
    if (!isSuccess || error !== undefined) {
      const isFinal = statusCode < 500 && ![408, 429].includes(statusCode) && !passingErrors.has(error ?? '')
      const said = error === undefined ? '' : ` (${error})`
      return fail(`the token endpoint responded with HTTP ${statusCode}${said}`, isFinal)
    }
    const token = readToken(fields)
    if (!('lacks' in token)) return token
    const came = [`HTTP ${statusCode}`, ...describeType(headers['content-type'])].join(', ')
    return fail(`the response of the token endpoint (${came}) has ${token.lacks}`)
  }
}

function composeRequest({
  clientId = '',
  clientSecret = '',
  clientAuthentication = 'header',
  scope,
  audience,
}: OpenCredential['parts']) {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(clientAuthentication === 'body' && { client_id: clientId, client_secret: clientSecret }),
  })
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'automation-rules',
  }
  if (clientAuthentication === 'header')
    headers.authorization = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`
  return { headers, body: body.toString() }
}

function readToken(fields: Fields): { text: string; usableMs: number } | { lacks: string } {
  const { access_token: text, token_type: type, expires_in: life } = fields
  if (typeof text !== 'string') return { lacks: 'no access token' }
  // It becomes the value of a header.
  if (!/^[\x21-\x7e]{1,8192}$/.test(text)) return { lacks: 'no access token that can stand in a header' }
  if (typeof (type ?? '') !== 'string') return { lacks: 'a token of an unknown type, not a bearer token' }
  const name = String(type ?? '').toLowerCase()
  if (otherTypes.has(name)) return { lacks: `a token of the type ${name}, not a bearer token` }
  const given = Number(life ?? defaultSeconds)
  const seconds = Number.isFinite(given) ? Math.min(Math.max(given, 0), maxSeconds) : defaultSeconds
  return { text, usableMs: Math.round((seconds - Math.min(marginSeconds, seconds / 2)) * 1_000) }
}

type Fields = Record<string, unknown>

/** JSON, perhaps behind a byte order mark, or a form, whatever its content type says. Of anything else nothing. */
function parseFields(bytes: Buffer, headers: Dispatcher.ResponseData['headers']): Fields {
  try {
    const text = decompress(bytes, headers['content-encoding'], maxResponseBytes)
      .toString()
      .replace(/^\ufeff/, '')
    if (/^\w+=/.test(text)) return Object.fromEntries(new URLSearchParams(text))
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? (json as Fields) : {}
  } catch {
    return {}
  }
}

/** Only the usual ones: another text may be an echo of the secret. */
function describeType(type: string | string[] | undefined): string[] {
  const usual =
    /^(?:text\/(?:html|plain|xml)|application\/(?:json|xml|jwt|x-www-form-urlencoded))(?=\s*(?:;|$))/
  return [...(usual.exec(String(type ?? '').toLowerCase()) ?? [])]
}
