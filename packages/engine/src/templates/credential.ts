import { parsePath } from '../values/path.js'

/** The root of the placeholders that no event fills: `{{credentials.NAME}}` stands for a secret of the workspace. */
export const credentialRoot = 'credentials'

export const credentialName = '^[A-Za-z][A-Za-z0-9_-]{0,63}$'
const isName = new RegExp(credentialName)

/** By their names. */
export type CredentialValues = ReadonlyMap<string, string>

/** Whether a path is reserved for credentials, and so no path of event data. */
export function isReserved(path: string): boolean {
  return /^credentials(?:[.[]|$)/.test(path)
}

/** The name of the credential that a path stands for; undefined where it stands for none. */
export function credentialOf(path: string): string | undefined {
  const [root, name = '', ...deeper] = parsePath(path) ?? []
  return root === credentialRoot && deeper.length === 0 && isName.test(name) ? name : undefined
}

/** What a rule, its explanations and its results show of a credential. */
export function writeReference(name: string): string {
  return `{{${credentialRoot}.${name}}}`
}

/** The name of the credential that a text is, as it is shown, and nothing else. */
export function wholeCredential(text: string): string | undefined {
  const [, path = ''] = /^\{\{\s*([^{}|]*?)\s*\}\}$/.exec(text) ?? []
  return credentialOf(path)
}

export const noEventData = 'must not read credentials: they are no event data'
