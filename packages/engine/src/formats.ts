import { findDurationFault } from './duration.js'

/**
 * What a schema cannot say about a config's text. Checked when a rule is saved if the text has no placeholder, and
 * again on what was rendered. Answers what is wrong, undefined when nothing is.
 */
export type Format = (text: string) => string | undefined

export const duration: Format = findDurationFault

// One address and nothing that a mail header gives a meaning: `a@x, b@y` would be two recipients.
const oneAddress = /^[^\s\p{Cc}@,;:<>()[\]\\"]+@[^\s\p{Cc}@,;:<>()[\]\\"]+$/u

export const emailAddress: Format = (text) =>
  text.length <= 320 && oneAddress.test(text) ? undefined : 'must be one e-mail address'

export const httpUrl: Format = (text) =>
  /^https?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'must be an http or https URL'
