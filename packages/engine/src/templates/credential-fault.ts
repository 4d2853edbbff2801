import { listTexts } from '../texts/list-texts.js'
import { wholeCredential } from './credential.js'
import { listCredentials } from './template.js'
import { compileUrl } from './url-template.js'

/** Of one call: each response is searched for all of them. */
const maxCredentials = 10

/** A call with a credential goes to a host that stands in the rule: everybody who reads it sees to whom the secret is sent. */
export function findCredentialFault(
  config: Readonly<Record<string, unknown>>,
): { field: string; message: string } | undefined {
  const { url } = config
  const names = new Set(
    listTexts(config, '').flatMap(({ text }) => listCredentials(text).map(({ name }) => name)),
  )
  if (typeof url !== 'string' || names.size === 0) return undefined
  if (names.size > maxCredentials)
    return { field: 'url', message: `must be called with at most ${maxCredentials} credentials` }
  // Any other fault of the URL is reported by itself.
  if (wholeCredential(url) !== undefined || typeof compileUrl(url) === 'string') return undefined
  const [, host = '{{'] = /^https?:\/\/([^/\\?#]*)/i.exec(url) ?? []
  return host.includes('{{')
    ? { field: 'url', message: 'must have its host written out, since a credential is sent there' }
    : undefined
}
