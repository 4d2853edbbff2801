import type { SchemeName, SchemeSettings } from '@automation/client'

export type Setting = keyof SchemeSettings

export interface SettingField {
  label: string
  /** What could stand there. */
  placeholder?: string
  /** Of its choices. */
  words?: Readonly<Record<string, string>>
  hint?: string
}

/** What may be said of how a provider signs, in the order of the form. The compiler asks for every setting that there is. */
export const settingFields: Readonly<Record<Setting, SettingField>> = {
  repeatsFor: {
    label: 'How long the same body is a repeat',
    placeholder: '30d',
    hint: 'After that a stranger who saw a delivery may repeat it',
  },
  verifyToken: { label: 'Verify token, as it is entered at Meta' },
  publicUrl: {
    label: 'URL, as it is entered at the provider',
    placeholder: 'https://api.example.com/api/incoming-webhooks/…',
  },
  signatureHeader: { label: 'Header with the signature', placeholder: 'X-Acme-Signature' },
  signaturePrefix: { label: 'Before each signature', placeholder: 'sha256=' },
  signatureSeparator: {
    label: 'Between its parts',
    words: { '': 'nothing', ',': ',', ';': ';', ' ': 'space' },
  },
  signed: {
    label: 'What is signed',
    placeholder: '{body}',
    hint: 'Parts: {body}, {timestamp}, {id}, {url}, {fields}',
  },
  hash: { label: 'Hash' },
  encoding: { label: 'Encoding of the signature' },
  keyEncoding: { label: 'Encoding of the secret' },
  timestampHeader: { label: 'Header with the time, if it is signed', placeholder: 'X-Acme-Timestamp' },
  timestampPrefix: { label: 'Before the time', placeholder: 't=' },
  idHeader: { label: 'Header with the id of the event', placeholder: 'X-Acme-Id' },
  idPath: { label: 'Path of the id', placeholder: 'id' },
  typeHeader: { label: 'Header with the type of the event', placeholder: 'X-Acme-Event' },
  typePath: { label: 'Path of the type', placeholder: 'type' },
  body: { label: 'Body' },
  types: {
    label: 'Event types',
    hint: 'A webhook of such a type also becomes an event of yours.',
  },
  dataFrom: { label: 'Path of the data of that event', placeholder: 'data.object' },
  headers: { label: 'Headers that rules can read', placeholder: 'X-Acme-Region, X-Acme-Plan' },
  response: { label: 'Response to an accepted webhook' },
}

/** Of every provider. */
const common: readonly Setting[] = ['types', 'dataFrom', 'headers']

const own: Partial<Record<SchemeName, readonly Setting[]>> = {
  github: ['repeatsFor'],
  shopify: ['repeatsFor'],
  meta: ['repeatsFor', 'verifyToken'],
  twilio: ['publicUrl'],
}

/** The settings that the scheme of a provider has. */
export function settingsOf(scheme: SchemeName): Setting[] {
  const all = Object.keys(settingFields) as Setting[]
  if (scheme === 'automation') return []
  if (scheme === 'generic') return all.filter((name) => name !== 'verifyToken')
  return all.filter((name) => common.includes(name) || own[scheme]?.includes(name))
}

const needed: Partial<Record<SchemeName, Setting>> = {
  twilio: 'publicUrl',
  meta: 'verifyToken',
  generic: 'signatureHeader',
}

/** Those without which the scheme says nothing. */
export function isNeeded(scheme: SchemeName, name: Setting): boolean {
  return name === needed[scheme]
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
