export {
  newSigningSecret,
  readSigningKey,
  type SignedParts,
  signWebhook,
  toleranceSeconds,
  verifySignature,
} from './signature.js'
