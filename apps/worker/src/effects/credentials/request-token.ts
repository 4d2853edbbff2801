import { RefusedCall } from '../address-guard.js'
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
])

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
      async ({ statusCode, body }) => ({
        statusCode,
        text: (await readStart(body, maxResponseBytes)).bytes.toString(),
      }),
      () => {},
    )
    if ('fault' in called) return fail(called.fault, called.isFinal)
    const { statusCode, text } = called.result
    const json = parseObject(text)
    if (statusCode !== 200) {
      const error = typeof json?.error === 'string' && knownErrors.has(json.error) ? ` (${json.error})` : ''
      const isFinal = statusCode < 500 && statusCode !== 408 && statusCode !== 429
      return fail(`the token endpoint responded with HTTP ${statusCode}${error}`, isFinal)
    }
    return readToken(json) ?? fail('the response of the token endpoint has no bearer token')
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

function readToken(json: Record<string, unknown> | undefined) {
  const { access_token: text, token_type: type = 'bearer', expires_in: life } = json ?? {}
  // It becomes the value of a header.
  if (typeof text !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(text)) return undefined
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return undefined
  const given = Number(life ?? defaultSeconds)
  const seconds = Number.isFinite(given) ? Math.min(Math.max(given, 0), maxSeconds) : defaultSeconds
  return { text, usableMs: Math.round((seconds - Math.min(marginSeconds, seconds / 2)) * 1_000) }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
