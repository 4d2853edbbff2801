import { readySchemes } from './ready-schemes.js'
import type { Scheme, SchemeName } from './scheme.js'
import type { SchemeInUse } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'

/** A scheme of a provider: all but our own. */
export type ProviderScheme = Exclude<SchemeName, 'automation'>

/** The row of a scheme with the settings of a secret. */
export function useScheme(name: ProviderScheme, settings: SchemeSettings): SchemeInUse {
  const scheme = name === 'generic' ? describeGeneric(settings) : readySchemes[name]
  const { publicUrl } = settings
  return publicUrl === undefined ? { scheme } : { scheme, publicUrl }
}

/** The row of the scheme whose header a request has; undefined where it is none of the ready ones. */
export function findReadyScheme(
  headers: Readonly<Record<string, unknown>>,
): [name: ProviderScheme, scheme: Scheme] | undefined {
  const found = Object.entries(readySchemes).find(([, { signature }]) =>
    signature.headers.some((name) => headers[name] !== undefined),
  )
  return found as [ProviderScheme, Scheme] | undefined
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
      paths: idPath === undefined ? [] : [idPath],
      // A path is in the body. {fields} do not sign where the name of a field ends.
      isSigned: signed.includes('{body}') && (idHeader === undefined || signed.includes('{id}')),
    },
    type: { headers: listName(typeHeader), paths: typePath === undefined ? [] : [typePath] },
    bodies: [body],
    headers: listName(typeHeader),
    ...(response !== undefined && { response: { ...response, contentType: 'text/plain' } }),
    advice:
      'Compare the settings of the secret with what the provider documents, and its secret with this one',
  }
}

function listName(header: string | undefined): string[] {
  return header === undefined ? [] : [header.toLowerCase()]
}
