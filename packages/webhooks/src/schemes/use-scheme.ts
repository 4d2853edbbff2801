import { payloadPath } from './payload-path.js'
import { readySchemes } from './ready-schemes.js'
import type { Scheme, SchemeName } from './scheme.js'
import { readHeader, type SchemeInUse } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'

/** The row of a scheme with the settings of a secret. */
export function useScheme(name: SchemeName, settings: SchemeSettings): SchemeInUse {
  const scheme = name === 'generic' ? describeGeneric(settings) : readySchemes[name]
  const { publicUrl } = settings
  return publicUrl === undefined ? { scheme } : { scheme, publicUrl }
}

/** The row of the scheme whose header a request has: that with the id of its secret, or with the signature. undefined: it is none of the ready ones. */
export function findReadyScheme(
  headers: Readonly<Record<string, unknown>>,
): [name: SchemeName, scheme: Scheme] | undefined {
  const found = Object.entries(readySchemes).find(([, { signature, secretIdHeader }]) =>
    secretIdHeader === undefined
      ? signature.headers.some((name) => headers[name] !== undefined)
      : readHeader(headers, [secretIdHeader]) !== '',
  )
  return found as [SchemeName, Scheme] | undefined
}

/** Whether a ready scheme signs as another one does, in the same header: then both cost the same. */
export function signsLike(one: Scheme, { signature }: Scheme): boolean {
  return one.signature.headers.some((name) => signature.headers.includes(name))
}

/**
 * Whether a header may hold the signature of a provider. It is decided by the name alone, for every workspace alike: a refusal must not say
 * which scheme a workspace uses.
 */
export function maySign(header: string): boolean {
  return /sign|hmac|hash/.test(header.toLowerCase())
}

function describeGeneric(settings: SchemeSettings): Scheme {
  const { signatureHeader = '', signaturePrefix = '', signatureSeparator = '', encoding = 'hex' } = settings
  const { timestampHeader, timestampPrefix: prefix, idHeader, idPath, typeHeader, typePath } = settings
  const { signed = '{body}', body = 'json', response } = settings
  return {
    title: 'The provider',
    signature: {
      headers: [signatureHeader.toLowerCase()],
      separator: signatureSeparator,
      prefix: signaturePrefix,
      encoding,
    },
    ...(timestampHeader !== undefined && {
      timestamp: { headers: [timestampHeader.toLowerCase()], ...(prefix !== undefined && { prefix }) },
    }),
    signed,
    hash: settings.hash ?? 'sha256',
    key: settings.keyEncoding ?? 'text',
    id: {
      headers: listName(idHeader),
      paths: listPath(idPath),
      // A path is in the body. {fields} do not sign where the name of a field ends.
      isSigned: signed.includes('{body}') && (idHeader === undefined || signed.includes('{id}')),
    },
    type: { headers: listName(typeHeader), paths: listPath(typePath) },
    bodies: [body],
    headers: listName(typeHeader),
    ...(response !== undefined && { response: { ...response, contentType: 'text/plain' } }),
    advice:
      'Compare the settings of the secret with what the provider documents, and its secret with this one',
  }
}

function listPath(path: string | undefined): string[] {
  return path === undefined ? [] : [payloadPath(path)]
}

function listName(header: string | undefined): string[] {
  return header === undefined ? [] : [header.toLowerCase()]
}
