import { wholeCredential } from './credential.js'
import { findDurationFault } from './duration.js'
import { isPunycode } from './punycode.js'

/**
 * A check of a config's text that a schema cannot express. It runs when a rule is saved if the text has no placeholder,
 * and again on the rendered text. Returns what is wrong, or undefined.
 */
export type Format = (text: string) => string | undefined

export const duration: Format = findDurationFault

// One address without a display name and without characters that have a meaning in mail headers: `a@x, b@y` would be two recipients.
// Mail is sent to the domain's ASCII form, so a domain has letters, digits and dashes only: a full-width comma or bracket
// would become an ASCII one.
const oneAddress = /^[^\s\p{C}@,;:<>()[\]\\"]+@[\p{L}\p{M}\p{Nd}-]+(?:\.[\p{L}\p{M}\p{Nd}-]+)*$/u

export const emailAddress: Format = (text) =>
  text.length <= 320 && oneAddress.test(text) && isDomain(text.slice(text.indexOf('@') + 1))
    ? undefined
    : 'must be one email address'

function isDomain(text: string): boolean {
  const encoded = text.split('.').filter((label) => /^xn--/i.test(label))
  return URL.canParse(`http://${text}`) && encoded.every((label) => isPunycode(label.slice(4)))
}

export const httpUrl: Format = (text) =>
  /^https?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'must be an http or https URL'

/** A URL, or the credential whose value it is. */
export const chatUrl: Format = (text) => (wholeCredential(text) === undefined ? httpUrl(text) : undefined)
