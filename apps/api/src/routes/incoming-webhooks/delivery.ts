import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { maySign, toleranceSeconds } from '@automation/webhooks'
import type { FastifyRequest } from 'fastify'
import { Refusal, refusals } from '../../errors.js'

/** One attempt to deliver a webhook, just as it was sent: '' stands for a header that is not there. */
export interface IncomingDelivery {
  provider: string
  workspaceId: string
  /** X-Idempotency-Key: the event's id at the provider. */
  id: string
  /** X-Timestamp, Unix seconds. */
  timestamp: string
  signature: string
  signatureId: string
  headers: IncomingHttpHeaders
  /** The part of its URL after the question mark, as it was sent. */
  query: string
  isForm: boolean
  /** The received bytes, which the sender has signed. */
  body: Buffer
}

/** Why a delivery was refused, as in its receipt, in the order of the checks. */
export type RejectionReason =
  | 'size'
  | 'content_type'
  | 'content_encoding'
  | 'header'
  | 'signature'
  | 'timestamp'
  | 'body'
  | 'reused_id'

/** A refusal of the delivery itself: it is recorded for the person who set the provider up. */
export class DeliveryRefusal extends Refusal {
  readonly reason: RejectionReason

  constructor(reason: RejectionReason, { code, body, headers }: Refusal) {
    super(code, 'error' in body ? body.error : body.errors, headers)
    this.reason = reason
  }
}

/** The reason of a refusal, found from the error; undefined where the delivery was not at fault. */
export function rejectionReason(error: { code?: string }): RejectionReason | undefined {
  if (error instanceof DeliveryRefusal) return error.reason
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'size'
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'content_type'
  return error instanceof Refusal && error.statusCode === 415 ? 'content_encoding' : undefined
}

export function readDelivery({ params, headers, body, url }: FastifyRequest): IncomingDelivery {
  const { provider, workspaceId } = params as { provider: string; workspaceId: string }
  // Node joins headers of such names that come twice.
  const header = (name: string) => (headers[name] ?? '') as string
  return {
    provider,
    workspaceId: workspaceId.toLowerCase(),
    id: header('x-idempotency-key'),
    timestamp: header('x-timestamp'),
    signature: header('x-signature'),
    signatureId: header('x-signature-id').toLowerCase(),
    headers,
    query: url.includes('?') ? url.slice(url.indexOf('?') + 1) : '',
    isForm: isForm(headers),
    body: body instanceof Buffer ? body : Buffer.alloc(0),
  }
}

/**
 * Whether a delivery has to be verified with the secrets of its provider: it names none, and a header may be a signature. Its headers alone
 * decide, since a refusal must not say which scheme a workspace uses.
 */
export function isOfProvider({ signatureId, headers }: IncomingDelivery): boolean {
  return signatureId === '' && Object.keys(headers).some(maySign)
}

/** @throws the refusal of a delivery that no secret of its provider has signed: of one that could be our own scheme, what that lacks */
export function refuseUnsigned(delivery: IncomingDelivery): never {
  const { headers, isForm } = delivery
  const isForeign = Object.keys(headers).some(
    (name) => !/^x-signature$|signature.?id/.test(name) && maySign(name),
  )
  if (!isForeign && isForm) throw new DeliveryRefusal('content_type', refusals.notJson())
  if (!isForeign) checkHeaders(delivery)
  throw new DeliveryRefusal('signature', refusals.notSigned())
}

function isForm({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(type)
}

/** @throws a 400 refusal; a signature of any look is left to the comparison */
export function checkHeaders({ id, timestamp, signature, signatureId }: IncomingDelivery): void {
  if (id === '') refuse('Header X-Idempotency-Key is required')
  if (timestamp === '') refuse('Header X-Timestamp is required')
  if (signature === '') refuse('Header X-Signature is required')
  if (signatureId === '') refuse('Header X-Signature-Id is required')
  if (!/^[A-Za-z0-9_:-]{1,255}$/.test(id))
    refuse('Header X-Idempotency-Key must be 1 to 255 letters, digits, or any of _ : -')
  if (!/^\d{1,15}$/.test(timestamp)) refuse('Header X-Timestamp must be Unix seconds')
}

/** @param timestamp Unix seconds */
export function isOutsideWindow(timestamp: string, now: number): boolean {
  // Of what is no number, too.
  return !(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds)
}

/** SHA-256, as hex. */
export function hashBody({ body }: IncomingDelivery): string {
  return hash('sha256', body, 'hex')
}

function refuse(message: string): never {
  throw new DeliveryRefusal('header', refusals.badRequest(message, 'invalid_header'))
}
