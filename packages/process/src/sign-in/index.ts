export { delayMs, FailedLogins, type LoginAttempt } from './failed-logins.js'
export { type LinkContent, mintLink, openLink, sealLink, sessionHours } from './link.js'
export { createBox, type SealedBox } from './sealed-box.js'
