import { type Deviation, presentAll, type SignatureFinding } from '../findings.js'
import { findForeignScheme } from '../foreign-scheme.js'
import type { KnownSecret, RefusedDelivery } from '../refused-delivery.js'
import { rewriteJson } from '../rewrite-json.js'
import { readSchemeKey } from './read-scheme-key.js'
import type { SchemeName } from './scheme.js'
import { readHeader, type SchemeInUse, type SchemeRequest } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'
import { useScheme } from './use-scheme.js'
import { verifyByScheme } from './verify-by-scheme.js'

/** A secret in the scheme of a provider. Its `key` is the text of the secret. */
export interface KnownProviderSecret extends KnownSecret {
  scheme: SchemeName
  settings: SchemeSettings | null
}

/** A request, and the provider in its path. */
export type RefusedRequest = SchemeRequest & Pick<RefusedDelivery, 'provider'>

/** What the sender may have done, or the person who has set it up. */
interface Attempt {
  inUse: SchemeInUse
  text: string
  request: SchemeRequest
  deviations: Deviation[]
}

const searchBytes = 8 * 1024 * 1024
/** The cost of an attempt apart from its body. */
const bytesPerAttempt = 2048

/**
 * Explains why no secret of the provider fits a delivery in the scheme of a provider. Its work is bounded, and it throws on no input.
 *
 * @param secrets all of the workspace that have the scheme of a provider
 * @param isRead whether the body was read: otherwise the headers alone are looked at
 */
export function diagnoseProvider(
  request: RefusedRequest,
  secrets: KnownProviderSecret[],
  isRead = true,
): SignatureFinding[] {
  const ofProvider = secrets.filter(({ provider }) => provider === request.provider)
  const expected = ofProvider.map((secret) => inUseOf(secret).scheme)
  const isExpected = expected.some(({ signature }) => readHeader(request.headers, signature.headers) !== '')
  const missing = isExpected
    ? []
    : expected.slice(0, 1).map(({ signature }) => missingHeader(signature.headers))
  const foreign = isExpected ? [] : findForeignScheme(request)
  if (!isRead) return presentAll([...foreign, ...missing])
  const nearMiss = findNearMiss(request, secrets)
  if (nearMiss?.length === 0) return presentAll([{ code: 'signature_matches' }])
  if (nearMiss) return presentAll([...foreign, ...nearMiss])
  const [scheme] = expected
  const unexplained: Deviation[] =
    isExpected && scheme
      ? [
          { code: 'no_match_of_provider', about: scheme.title },
          { code: 'usual_mistake', about: scheme.advice },
        ]
      : []
  return presentAll([...foreign, ...missing, ...unexplained])
}

function missingHeader(names: readonly string[]): Deviation {
  return { code: 'header_missing', about: names.join(' or ') }
}

function inUseOf({ scheme, settings }: KnownProviderSecret): SchemeInUse {
  return useScheme(scheme === 'automation' ? 'generic' : scheme, settings ?? {})
}

function findNearMiss(request: RefusedRequest, secrets: KnownProviderSecret[]): Deviation[] | undefined {
  let bytes = searchBytes
  for (const attempt of listAttempts(request, secrets)) {
    bytes -= bytesPerAttempt + attempt.request.body.length
    if (bytes < 0) return undefined
    const key = readSchemeKey(attempt.inUse.scheme, attempt.text)
    if (key && verifyByScheme(attempt.inUse, key, attempt.request)) return attempt.deviations
  }
  return undefined
}

/** As it is with each secret first, then with one mistake. */
function* listAttempts(request: RefusedRequest, secrets: KnownProviderSecret[]): Generator<Attempt> {
  const starts = secrets.map((secret) => ({
    inUse: inUseOf(secret),
    text: secret.key.toString(),
    request,
    deviations: listDeviations(secret, request),
  }))
  const likely = starts.filter(
    ({ inUse }) => readHeader(request.headers, inUse.scheme.signature.headers) !== '',
  )
  likely.sort((one, other) => one.deviations.length - other.deviations.length)
  yield* likely
  for (const start of likely) {
    const vary = (change: Partial<Attempt>, deviation: Deviation): Attempt => {
      return { ...start, ...change, deviations: [...start.deviations, deviation] }
    }
    for (const text of listTexts(start.text)) yield vary({ text }, { code: 'secret_prefix' })
    for (const [publicUrl, about] of listUrls(start.inUse.publicUrl))
      yield vary({ inUse: { ...start.inUse, publicUrl } }, { code: 'other_url', about })
  }
  for (const [body, deviation] of listBodies(request.body))
    for (const start of likely)
      yield { ...start, request: { ...request, body }, deviations: [...start.deviations, deviation] }
}

function listDeviations({ id, provider, state }: KnownSecret, request: RefusedRequest): Deviation[] {
  const deviations: Deviation[] = []
  if (provider !== request.provider)
    deviations.push({ code: 'other_provider', about: provider, secretId: id })
  if (state === 'retired') deviations.push({ code: 'secret_retired', secretId: id })
  if (state === 'revoked') deviations.push({ code: 'secret_revoked', secretId: id })
  return deviations
}

/** What may have been lost on the way of the secret to us, or come with it. */
function listTexts(text: string): string[] {
  return text.startsWith('whsec_') ? [text.slice('whsec_'.length)] : [`whsec_${text}`]
}

function listUrls(publicUrl: string | undefined): [url: string, about: string][] {
  if (publicUrl === undefined) return []
  const isSecure = publicUrl.startsWith('https:')
  const scheme = publicUrl.replace(/^https?/, isSecure ? 'http' : 'https')
  const ending = publicUrl.endsWith('/') ? publicUrl.slice(0, -1) : `${publicUrl}/`
  const port = publicUrl.replace(/^(https?:\/\/[^/:]+)(\/|$)/, `$1:${isSecure ? 443 : 80}$2`)
  return [
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
