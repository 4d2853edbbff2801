import { type Deviation, presentAll, type SignatureFinding } from '../findings.js'
import { rewriteJson } from '../rewrite-json.js'
import { readSchemeKey } from './read-scheme-key.js'
import type { Scheme, SchemeName } from './scheme.js'
import { readHeader, type SchemeInUse, type SchemeRequest } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'
import { readSigningTime } from './signed-time.js'
import { findReadyScheme, useScheme } from './use-scheme.js'
import { verifyByScheme } from './verify-by-scheme.js'

/** A signing secret of the workspace, of any provider and in any state. */
export interface KnownSecret {
  id: string
  provider: string
  /** What is stored of it. undefined: no key of the service opens it. */
  key: Buffer | undefined
  scheme: SchemeName
  settings: SchemeSettings | null
  state: 'active' | 'retiring' | 'retired' | 'revoked'
}

/** A request, and the provider in its path. */
export interface RefusedRequest extends SchemeRequest {
  provider: string
}

/** What the sender may have done, or the person who has set it up. */
interface Attempt {
  inUse: SchemeInUse
  key: Buffer
  request: SchemeRequest
  deviations: Deviation[]
}

const searchBytes = 8 * 1024 * 1024
/** The cost of an attempt apart from its body. */
const bytesPerAttempt = 2048

/**
 * The signature diagnosis: explains why no secret fits a refused delivery. Its work is bounded, and it throws on no input. Its findings have ids of
 * secrets and names of providers, but never a key or the right signature. They are for admins only, nevertheless.
 *
 * @param secrets all of the workspace: a delivery may be signed with another one, or with that of another provider
 * @param isRead whether the body was read: otherwise the headers alone are looked at
 */
export function diagnose(
  request: RefusedRequest,
  secrets: KnownSecret[],
  isRead: boolean,
): SignatureFinding[] {
  const expected = secrets
    .filter(({ provider }) => provider === request.provider)
    .map((secret) => inUseOf(secret).scheme)
  const met = expected.find((scheme) => isMeant(scheme, request))
  const foreign = met === undefined ? findForeignScheme(request, expected) : []
  const missing = foreign.length > 0 ? [] : findMissingHeaders(met ?? expected[0], request)
  if (!isRead) return presentAll([...foreign, ...missing])
  const nearMiss = findNearMiss(request, secrets)
  if (nearMiss?.length === 0) {
    const isUnreadable = met?.timestamp && readSigningTime(met, request.headers) === undefined
    return presentAll([{ code: isUnreadable ? 'timestamp_unreadable' : 'signature_matches' }])
  }
  const unexplained = met === undefined ? [] : listUnexplained(met, request, secrets)
  return presentAll([...foreign, ...missing, ...(nearMiss ?? unexplained)])
}

/** Whether a request has a signature that may be of a scheme. */
function isMeant({ signature }: Scheme, { headers }: SchemeRequest): boolean {
  return readHeader(headers, signature.headers) !== ''
}

/** The sender whose header the request has. Meta sends the one of GitHub, too. */
function findForeignScheme({ headers }: SchemeRequest, expected: Scheme[]): Deviation[] {
  const [, scheme] = findReadyScheme(headers) ?? []
  if (scheme === undefined || expected.includes(scheme)) return []
  const header = [...scheme.signature.headers, scheme.secretIdHeader ?? ''].find(
    (one) => headers[one] !== undefined,
  )
  return [{ code: 'foreign_scheme', about: `${scheme.title} (${header})` }]
}

function findMissingHeaders(scheme: Scheme | undefined, { headers }: SchemeRequest): Deviation[] {
  if (scheme === undefined) return []
  const { id, timestamp, signature, secretIdHeader } = scheme
  const needed = [
    id.isSigned ? id.headers : [],
    timestamp?.headers ?? [],
    signature.headers,
    secretIdHeader === undefined ? [] : [secretIdHeader],
  ]
  return needed
    .filter((names) => names.length > 0 && readHeader(headers, names) === '')
    .map((names) => ({ code: 'header_missing', about: names.join(' or ') }))
}

function listUnexplained(
  { secretIdHeader, title, advice }: Scheme,
  { headers }: SchemeRequest,
  secrets: KnownSecret[],
): Deviation[] {
  const named = secretIdHeader === undefined ? '' : readHeader(headers, [secretIdHeader])
  const isUnknown = named !== '' && !secrets.some(({ id }) => isSameId(id, named))
  return [
    ...(isUnknown ? [{ code: 'unknown_signature_id' } as const] : []),
    { code: 'no_match_of_provider', about: title },
    { code: 'usual_mistake', about: advice },
  ]
}

function inUseOf({ scheme, settings }: KnownSecret): SchemeInUse {
  return useScheme(scheme, settings ?? {})
}

function findNearMiss(request: RefusedRequest, secrets: KnownSecret[]): Deviation[] | undefined {
  let bytes = searchBytes
  for (const { inUse, key, request: tried, deviations } of listAttempts(request, secrets)) {
    bytes -= bytesPerAttempt + tried.body.length
    if (bytes < 0) return undefined
    const read = readSchemeKey(inUse.scheme, key)
    if (read && verifyByScheme(inUse, read, tried)) return deviations
  }
  return undefined
}

/** As it is with each secret first, then with one mistake. */
function* listAttempts(request: RefusedRequest, secrets: KnownSecret[]): Generator<Attempt> {
  const likely = secrets.flatMap((secret): Attempt[] => {
    const { key } = secret
    const inUse = inUseOf(secret)
    if (key === undefined || !isMeant(inUse.scheme, request)) return []
    return [{ inUse, key, request, deviations: listDeviations(secret, request) }]
  })
  likely.sort((one, other) => one.deviations.length - other.deviations.length)
  yield* likely
  for (const start of likely) {
    const vary = (change: Partial<Attempt>, deviation: Deviation): Attempt => {
      return { ...start, ...change, deviations: [...start.deviations, deviation] }
    }
    if (start.inUse.scheme.key !== 'bytes')
      yield vary({ key: Buffer.from(togglePrefix(start.key.toString())) }, { code: 'secret_prefix' })
    for (const [publicUrl, about] of listUrls(start.inUse.publicUrl))
      yield vary({ inUse: { ...start.inUse, publicUrl } }, { code: 'other_url', about })
  }
  const bodies = likely.length === 0 ? [] : [...listBodies(request.body)]
  for (const start of likely)
    for (const [body, deviation] of bodies)
      yield { ...start, request: { ...request, body }, deviations: [...start.deviations, deviation] }
}

/** The reasons against a secret, apart from its key. */
function listDeviations(secret: KnownSecret, { provider, headers }: RefusedRequest): Deviation[] {
  const { id: secretId, state } = secret
  const { secretIdHeader } = inUseOf(secret).scheme
  const deviations: Deviation[] = []
  if (secretIdHeader !== undefined && !isSameId(secretId, readHeader(headers, [secretIdHeader])))
    deviations.push({ code: 'other_secret', about: secretId, secretId })
  if (secret.provider !== provider)
    deviations.push({ code: 'other_provider', about: secret.provider, secretId })
  if (state === 'retired') deviations.push({ code: 'secret_retired', secretId })
  if (state === 'revoked') deviations.push({ code: 'secret_revoked', secretId })
  return deviations
}

function isSameId(id: string, named: string): boolean {
  return id.toLowerCase() === named.trim().toLowerCase()
}

/** What may have been lost on the way of the secret to us, or come with it. */
function togglePrefix(text: string): string {
  return text.startsWith('whsec_') ? text.slice('whsec_'.length) : `whsec_${text}`
}

function listUrls(publicUrl: string | undefined): [url: string, about: string][] {
  if (publicUrl === undefined) return []
  const isSecure = publicUrl.startsWith('https:')
  const scheme = publicUrl.replace(/^https?/, isSecure ? 'http' : 'https')
  const ending = publicUrl.endsWith('/') ? publicUrl.slice(0, -1) : `${publicUrl}/`
  const anonymous = publicUrl.replace(/^(https?:\/\/)[^/?#@]*@/, '$1')
  const port = anonymous.replace(/^(https?:\/\/[^/:]+)(\/|$)/, `$1:${isSecure ? 443 : 80}$2`)
  return [
    [anonymous, 'no user and password'],
    [anonymous.replace(/^(https?:\/\/[^/:]+):\d+/, '$1'), 'no port'],
    [scheme, isSecure ? 'http instead of https' : 'https instead of http'],
    [ending, publicUrl.endsWith('/') ? 'no slash at its end' : 'a slash at its end'],
    [port, 'its port'],
  ]
}

function* listBodies(body: Buffer): Generator<[Buffer, Deviation]> {
  const text = body.toString()
  for (const ending of ['\n', '\r\n']) {
    yield [Buffer.from(text + ending), { code: 'body_newline' }]
    if (text.endsWith(ending)) yield [body.subarray(0, -ending.length), { code: 'body_newline' }]
  }
  for (const form of rewriteJson(body))
    yield [Buffer.from(form.text), { code: 'body_changed', about: form.name }]
}
