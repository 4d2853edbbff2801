import type { SchemeName, SchemeSettings } from '@automation/client'

export type Setting = keyof SchemeSettings

export interface SettingField {
  label: string
  /** What could stand there. */
  example?: string
  /** The values that it can have. The first one holds if none is chosen. */
  options?: readonly string[]
  hint?: string
}

/** What may be said of how a provider signs, in the order of the form. The compiler asks for every setting that there is. */
export const settingFields: Readonly<Record<Setting, SettingField>> = {
  publicUrl: {
    label: 'URL, as it is entered at the provider',
    example: 'https://api.example.com/api/incoming-webhooks/…',
  },
  signatureHeader: { label: 'Header with the signature', example: 'X-Acme-Signature' },
  signaturePrefix: { label: 'Before each signature', example: 'sha256=' },
  signatureSeparator: { label: 'Between its parts', options: ['', ',', ';', ' '] },
  signed: {
    label: 'What is signed',
    example: '{body}',
    hint: 'Parts: {body}, {timestamp}, {id}, {url}, {fields}',
  },
  hash: { label: 'Hash', options: ['sha256', 'sha1', 'sha512'] },
  encoding: { label: 'Encoding of the signature', options: ['hex', 'base64'] },
  keyEncoding: { label: 'Encoding of the secret', options: ['text', 'base64', 'hex', 'whsec'] },
  timestampHeader: { label: 'Header with the time, if it is signed', example: 'X-Acme-Timestamp' },
  timestampPrefix: { label: 'Before the time', example: 't=' },
  idHeader: { label: 'Header with the id of the event', example: 'X-Acme-Id' },
  idPath: { label: 'Path of the id', example: 'id' },
  typeHeader: { label: 'Header with the type of the event', example: 'X-Acme-Event' },
  typePath: { label: 'Path of the type', example: 'type' },
  body: { label: 'Body', options: ['json', 'form', 'form:payload'] },
  types: {
    label: 'Event types',
    hint: 'A webhook of such a type also becomes an event of yours.',
  },
  dataFrom: { label: 'Path of the data of that event', example: 'data.object' },
  headers: { label: 'Headers that rules can read', example: 'X-Acme-Region, X-Acme-Plan' },
  response: { label: 'Response to an accepted webhook' },
}

/** Of every provider. */
const common: readonly Setting[] = ['types', 'dataFrom', 'headers']

/** The settings that the scheme of a provider has. */
export function settingsOf(scheme: SchemeName): Setting[] {
  const all = Object.keys(settingFields) as Setting[]
  if (scheme === 'generic') return all
  if (scheme === 'automation') return []
  return all.filter((name) => common.includes(name) || (scheme === 'twilio' && name === 'publicUrl'))
}

/** Those without which the scheme says nothing. */
export function isNeeded(scheme: SchemeName, name: Setting): boolean {
  return name === (scheme === 'twilio' ? 'publicUrl' : scheme === 'generic' ? 'signatureHeader' : undefined)
}

/** @param value undefined, or what an empty field has: the setting goes */
export function changeSetting(settings: SchemeSettings, name: Setting, value: unknown): SchemeSettings {
  const { [name]: _, ...others } = settings
  const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  return isEmpty ? others : { ...others, [name]: value }
}

/** A refusal names settings by their fields in the form: `settings.signed` is “What is signed”. */
export function nameSettings(text: string | undefined): string | undefined {
  return text?.replace(/\bsettings\.(\w+)/g, (whole, name) =>
    Object.hasOwn(settingFields, name) ? `“${settingFields[name as Setting].label}”` : whole,
  )
}
