export { presentFinding, type SignatureFinding } from './findings.js'
export { diagnose, type KnownSecret } from './schemes/diagnose.js'
export { findSettingsFaults } from './schemes/find-settings-faults.js'
export {
  answerHandshake,
  type ChallengeAnswer,
  isUnsignedPing,
  maxPingBytes,
  readUrlChallenge,
} from './schemes/handshakes.js'
export { nestForm } from './schemes/nest-form.js'
export { payloadPath } from './schemes/payload-path.js'
export { readForm } from './schemes/read-form.js'
export { readSchemeKey } from './schemes/read-scheme-key.js'
export { readRepeatsMs } from './schemes/repeats.js'
export { type BodyForm, type Scheme, SchemeName } from './schemes/scheme.js'
export {
  countSpellings,
  listSignedParts,
  readHeader,
  type SchemeInUse,
} from './schemes/scheme-request.js'
export { SchemeSettings } from './schemes/scheme-settings.js'
export { signByScheme } from './schemes/sign-by-scheme.js'
export { readSigningTime } from './schemes/signed-time.js'
export { findReadyScheme, maySign, signsLike, useScheme } from './schemes/use-scheme.js'
export { verifyByScheme } from './schemes/verify-by-scheme.js'
export {
  newSigningSecret,
  readSigningKey,
  signWebhook,
  toleranceSeconds,
} from './signature.js'
export { signStandardWebhook } from './standard-webhooks.js'
