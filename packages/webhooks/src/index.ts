export { diagnose, diagnoseHeaders } from './diagnose.js'
export type { SignatureFinding, SignatureFindingCode } from './findings.js'
export type { KnownSecret, RefusedDelivery } from './refused-delivery.js'
export {
  newSigningSecret,
  readSigningKey,
  type SignedParts,
  signWebhook,
  toleranceSeconds,
  verifySignature,
} from './signature.js'
export { signStandardWebhook } from './standard-webhooks.js'
