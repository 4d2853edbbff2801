import { readRepeatsMs } from './repeats.js'
import type { Scheme, SchemeName } from './scheme.js'
import { partNames } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'
import { maySign, useScheme } from './use-scheme.js'

interface SettingsFault {
  field: string
  message: string
}

type Setting = keyof SchemeSettings

const common: readonly Setting[] = ['types', 'dataFrom', 'headers']

const own: Partial<Record<SchemeName, readonly Setting[]>> = {
  github: ['repeatsFor'],
  shopify: ['repeatsFor'],
  meta: ['repeatsFor', 'verifyToken'],
  twilio: ['publicUrl'],
}

/** What no schema can say about the settings of a scheme. */
export function findSettingsFaults(name: SchemeName, settings: SchemeSettings): SettingsFault[] {
  const faults: SettingsFault[] = []
  const report = (setting: Setting, message: string) => faults.push({ field: `settings.${setting}`, message })
  for (const setting of Object.keys(settings) as Setting[])
    if (!allows(name, setting)) report(setting, `Must be omitted for the scheme ${name}`)
  for (const header of settings.headers ?? [])
    if (isSecretHeader(header))
      report('headers', 'Must not name a header that may hold a secret or a signature')
  for (const setting of ['idHeader', 'typeHeader', 'timestampHeader'] as const) {
    const header = settings[setting]?.toLowerCase() ?? ''
    // The time may stand among the signatures, or be named after them: it is no secret, and goes nowhere.
    const isOfSignature = setting === 'timestampHeader' && header === settings.signatureHeader?.toLowerCase()
    const isSecret = setting === 'timestampHeader' ? mayBeSecret(header) : isSecretHeader(header)
    if (isSecret && !isOfSignature)
      report(setting, 'Must not be a header that may hold a secret or a signature')
  }
  if (name === 'twilio' && settings.publicUrl === undefined)
    report('publicUrl', 'Must be the URL that is entered at Twilio, which it signs')
  if (name === 'meta' && settings.verifyToken === undefined)
    report('verifyToken', 'Must be the verify token that is entered at Meta')
  if (name === 'generic') findGenericFaults(settings, report)
  if (settings.repeatsFor !== undefined && allows(name, 'repeatsFor')) {
    const fault = findRepeatsFault(useScheme(name, settings).scheme, settings.repeatsFor)
    if (fault !== undefined) report('repeatsFor', fault)
  }
  return faults
}

/** Never given to rules, nor stored as an id. An idempotency key is one, and no secret. */
function isSecretHeader(header: string): boolean {
  return maySign(header) || mayBeSecret(header)
}

function mayBeSecret(header: string): boolean {
  return /auth|cookie|token|secret|password|(?<!idempotency-)key$/i.test(header)
}

const leastRepeatsMs = 5 * 60_000
const mostRepeatsMs = 30 * 86_400_000

function findRepeatsFault({ id, signed }: Scheme, text: string): string | undefined {
  const ms = readRepeatsMs(text)
  if (ms === undefined) return undefined
  if (signed.includes('{timestamp}')) return 'Must be omitted, since a time is signed'
  const hasId = id.headers.length + id.paths.length > 0
  if (hasId && id.isSigned) return ms === 0 ? undefined : 'Must be 0 or omitted, since the id is signed'
  return ms < leastRepeatsMs || ms > mostRepeatsMs
    ? 'Must be 5m to 30d, since neither the id nor a time is signed'
    : undefined
}

function allows(name: SchemeName, setting: Setting): boolean {
  if (name === 'automation') return false
  if (name === 'generic') return setting !== 'verifyToken'
  return common.includes(setting) || (own[name] ?? []).includes(setting)
}

function findGenericFaults(
  { signatureHeader = '', signed = '{body}', ...settings }: SchemeSettings,
  report: (setting: Setting, message: string) => void,
): void {
  if (!maySign(signatureHeader) || signatureHeader.toLowerCase() === 'x-signature-id')
    report('signatureHeader', 'Must be a header whose name contains sign, hmac or hash')
  const parts = new Set(signed.split(partNames).filter((_, at) => at % 2 === 1))
  if (!parts.has('body') && !(parts.has('fields') && settings.body === 'form'))
    report('signed', 'Must contain {body}, or {fields} if the body is a form')
  if (parts.has('id') && settings.idHeader === undefined)
    report('idHeader', 'Must be given, since {id} is signed')
  if (parts.has('timestamp') !== (settings.timestampHeader !== undefined))
    report('timestampHeader', 'Must be given if {timestamp} is signed, and only then')
  if (parts.has('url') && settings.publicUrl === undefined)
    report('publicUrl', 'Must be given, since {url} is signed')
}
