import { findDurationFault } from '../times/duration.js'
import { wholeCredential } from './credential.js'
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

const notOneAddress = 'must be one email address, without a name'

export const emailAddress: Format = (text) =>
  text.length <= 320 && oneAddress.test(text) && isDomain(text.slice(text.indexOf('@') + 1))
    ? undefined
    : notOneAddress

function isDomain(text: string): boolean {
  const encoded = text.split('.').filter((label) => /^xn--/i.test(label))
  return URL.canParse(`http://${text}`) && encoded.every((label) => isPunycode(label.slice(4)))
}

/** Whether no values of its placeholders make an address of a text, of which this is what stands around them. */
export const aroundAddress: Format = (text) =>
  /[\s\p{C},;:<>()[\]\\"]|@.*@/u.test(text) ? notOneAddress : undefined

export const httpUrl: Format = (text) => {
  if (text !== text.trim() && httpUrl(text.trim()) === undefined)
    return 'must be an http or https URL, without blanks around it'
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'must be an http or https URL'
  const { username, password } = new URL(text)
  return username === '' && password === ''
    ? undefined
    : 'must have no user name and no password: store them as a credential of kind basic, for the header authorization'
}

/** A URL, or the credential whose value it is. */
export const chatUrl: Format = (text) => (wholeCredential(text) === undefined ? httpUrl(text) : undefined)
