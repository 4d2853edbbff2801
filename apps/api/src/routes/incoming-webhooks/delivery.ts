import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { maxPingBytes, maySign, toleranceSeconds } from '@automation/webhooks'
import type { FastifyRequest } from 'fastify'
import { Refusal, refusals } from '../../errors.js'

/** One attempt to deliver a webhook, just as it was sent: '' stands for a header that is not there. */
export interface IncomingDelivery {
  provider: string
  workspaceId: string
  /** X-Idempotency-Key: the event's id at the provider. */
  id: string
  /** X-Signature-Id: the id of the secret that signs. */
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
    signatureId: header('x-signature-id').toLowerCase(),
    headers,
    query: url.includes('?') ? url.slice(url.indexOf('?') + 1) : '',
    isForm: isForm(headers),
    body: body instanceof Buffer ? body : Buffer.alloc(0),
  }
}

/**
 * Whether a delivery has to be verified with all secrets of its provider: it names none, and a header may be a signature. Its headers alone
 * decide, since a refusal must not say which scheme a workspace uses.
 */
export function needsAllSecrets({ signatureId, headers }: IncomingDelivery): boolean {
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

/** Whether the body is JSON by its type, as each sender of our own scheme says. */
export function isJson({ headers }: Pick<IncomingDelivery, 'headers'>): boolean {
  return /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

/** Whether a provider may send a body of this type. JSON as text, or without a type, is tried as JSON. */
export function hasKnownType(delivery: IncomingDelivery): boolean {
  const { 'content-type': type = '' } = delivery.headers
  return isJson(delivery) || delivery.isForm || /^(?:text\/plain\s*(?:;|$)|$)/i.test(type)
}

/** A short form without anything that could sign it. */
export function mayBePing({ isForm, headers }: IncomingDelivery): boolean {
  const length = Number(headers['content-length'] ?? maxPingBytes + 1)
  return isForm && length <= maxPingBytes && ownHeaders.every((name) => isMissing(headers, name))
}

function isForm({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(type)
}

/** Those of our own scheme, in the order in which they are asked for. */
const ownHeaders = ['X-Idempotency-Key', 'X-Timestamp', 'X-Signature', 'X-Signature-Id']

/** @throws a 400 refusal; a signature of any look is left to the comparison */
export function checkHeaders({ id, headers }: IncomingDelivery): void {
  const missing = ownHeaders.find((name) => isMissing(headers, name))
  if (missing !== undefined) refuse(`Header ${missing} is required`)
  if (!/^[A-Za-z0-9_:-]{1,255}$/.test(id))
    refuse('Header X-Idempotency-Key must be 1 to 255 letters, digits, or any of _ : -')
  if (!/^\d{1,15}$/.test(`${headers['x-timestamp']}`)) refuse('Header X-Timestamp must be Unix seconds')
}

function isMissing(headers: IncomingHttpHeaders, name: string): boolean {
  return !headers[name.toLowerCase()]
}

/** @param at epoch ms @param maxAgeSeconds of the scheme, if it has its own */
export function isOutsideWindow(at: number, now: number, maxAgeSeconds = toleranceSeconds): boolean {
  return !(now - at <= maxAgeSeconds * 1_000 && at - now <= toleranceSeconds * 1_000)
}

/** SHA-256, as hex. */
export function hashBody({ body }: IncomingDelivery): string {
  return hash('sha256', body, 'hex')
}

function refuse(message: string): never {
  throw new DeliveryRefusal('header', refusals.badRequest(message, 'invalid_header'))
}
