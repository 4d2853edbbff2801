export { diagnose, diagnoseHeaders } from './diagnose.js'
export { presentFinding, type SignatureFinding } from './findings.js'
export {
  diagnoseProvider,
  type KnownProviderSecret,
} from './schemes/diagnose-provider.js'
export { findSettingsFaults } from './schemes/find-settings-faults.js'
export { readForm } from './schemes/read-form.js'
export { readSchemeKey } from './schemes/read-scheme-key.js'
export { type BodyForm, type Scheme, SchemeName } from './schemes/scheme.js'
export { listSignedParts, readHeader, readTimestamp, type SchemeInUse } from './schemes/scheme-request.js'
export { SchemeSettings } from './schemes/scheme-settings.js'
export { signByScheme } from './schemes/sign-by-scheme.js'
export { findReadyScheme, maySign, type ProviderScheme, useScheme } from './schemes/use-scheme.js'
export { verifyByScheme } from './schemes/verify-by-scheme.js'
export {
  newSigningSecret,
  readSigningKey,
  signWebhook,
  toleranceSeconds,
  verifySignature,
} from './signature.js'
export { signStandardWebhook } from './standard-webhooks.js'
