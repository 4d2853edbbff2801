import { wholeCredential } from './credential.js'
import { listTexts } from './list-texts.js'
import { listCredentials } from './template.js'
import { compileUrl } from './url-template.js'

/** A call with a credential goes to a host that stands in the rule: everybody who reads it sees to whom the secret is sent. */
export function findHostFault(
  config: Readonly<Record<string, unknown>>,
): { field: string; message: string } | undefined {
  const { url } = config
  if (typeof url !== 'string' || !listTexts(config, '').some(({ text }) => listCredentials(text).length > 0))
    return undefined
  // Any other fault of the URL is reported by itself.
  if (wholeCredential(url) !== undefined || typeof compileUrl(url) === 'string') return undefined
  const [, host = '{{'] = /^https?:\/\/([^/\\?#]*)/i.exec(url) ?? []
  return host.includes('{{')
    ? { field: 'url', message: 'must have its host written out, since a credential is sent there' }
    : undefined
}
