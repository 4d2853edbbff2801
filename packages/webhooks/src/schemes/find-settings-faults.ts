import type { SchemeName } from './scheme.js'
import { partNames } from './scheme-request.js'
import type { SchemeSettings } from './scheme-settings.js'
import { maySign } from './use-scheme.js'

interface SettingsFault {
  field: string
  message: string
}

type Setting = keyof SchemeSettings

const common: readonly Setting[] = ['types', 'dataFrom', 'headers']

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
    // The time may stand among the signatures.
    const isOfSignature = setting === 'timestampHeader' && header === settings.signatureHeader?.toLowerCase()
    if (!isOfSignature && isSecretHeader(header))
      report(setting, 'Must not be a header that may hold a secret or a signature')
  }
  if (name === 'twilio' && settings.publicUrl === undefined)
    report('publicUrl', 'Must be the URL that is entered at Twilio, which it signs')
  if (name === 'generic') findGenericFaults(settings, report)
  return faults
}

/** Never given to rules, nor stored as an id. An idempotency key is one, and no secret. */
function isSecretHeader(header: string): boolean {
  return maySign(header) || /auth|cookie|token|secret|password|(?<!idempotency-)key$/i.test(header)
}

function allows(name: SchemeName, setting: Setting): boolean {
  if (name === 'generic') return true
  if (name === 'automation') return false
  return common.includes(setting) || (name === 'twilio' && setting === 'publicUrl')
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
