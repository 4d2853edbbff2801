import { findDurationFault } from './duration.js'

/**
 * What a schema cannot say about a config's text. Checked when a rule is saved if the text has no placeholder, and
 * again on what was rendered. Answers what is wrong, undefined when nothing is.
 */
export type Format = (text: string) => string | undefined

export const duration: Format = findDurationFault

// One address, without a display name, and nothing that a mail header gives a meaning: `a@x, b@y` would be two recipients.
// Mail is sent to the domain's ASCII form, so a domain is of letters, digits and dashes only: the full-width signs that
// look like commas and brackets would become them.
const oneAddress = /^[^\s\p{C}@,;:<>()[\]\\"]+@[\p{L}\p{M}\p{Nd}-]+(?:\.[\p{L}\p{M}\p{Nd}-]+)*$/u

export const emailAddress: Format = (text) =>
  text.length <= 320 && oneAddress.test(text) && URL.canParse(`http://${text.slice(text.indexOf('@') + 1)}`)
    ? undefined
    : 'must be one e-mail address'

export const httpUrl: Format = (text) =>
  /^https?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'must be an http or https URL'
