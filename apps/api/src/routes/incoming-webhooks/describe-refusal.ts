import { cutText } from '@automation/engine'
import type { FastifyError } from 'fastify'
import { isPassing, type Refusal, refusals } from '../../errors.js'

/** Of a refusal that names fields, which the sender has chosen. */
const maxSaid = 500

/** What the log of rejections says of it. */
export function describeRefusal(refusal: Refusal | undefined): string {
  const { body } = refusal ?? refusals.notSigned()
  const said =
    'error' in body ? [body.error] : body.errors.map(({ field, message }) => `${field}: ${message}`)
  return cutText(said.join(', '), maxSaid).toWellFormed()
}

/** Of a refusal that is not written down. */
export function otherReason(error: FastifyError): 'rate_limit' | 'size' | 'unavailable' | 'fault' {
  const { statusCode = 500 } = error
  if (statusCode === 429) return 'rate_limit'
  // The body has not come as it was announced.
  if (statusCode < 500) return 'size'
  return statusCode === 503 || isPassing(error) ? 'unavailable' : 'fault'
}
