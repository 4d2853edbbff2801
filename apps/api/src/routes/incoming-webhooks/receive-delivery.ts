import { hash } from 'node:crypto'
import { newId, postgresNow } from '@automation/database'
import { noteRepeat, type StoredReceipt } from '@automation/ledger'
import {
  answerHandshake,
  type ChallengeAnswer,
  readSigningTime,
  readUrlChallenge,
  type Scheme,
} from '@automation/webhooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import {
  DeliveryRefusal,
  hashBody,
  type IncomingDelivery,
  isOutsideWindow,
  refuseUnsigned,
} from './delivery.js'
import { eventsOfDelivery } from './events-of-delivery.js'
import { type Identity, identify, identifyChallenge, keyOfChallenge, keyOfHash } from './identify.js'
import type { KnownReceipts } from './known-receipts.js'
import type { Payload, ReadPayload } from './payload.js'
import { readText } from './read-text.js'
import type { DeliverySecret, DeliveryVerifier, SignedDelivery } from './verify-delivery.js'

/** What became of a delivery. */
export interface Received {
  stored: StoredReceipt & { isFirst: boolean }
  payload: Payload
  scheme: Scheme
  /** The id was known, and the body is another. */
  bodyDiffers: boolean
  /** What the provider wants to have back. Nothing follows from such a webhook. */
  challenge: ChallengeAnswer | undefined
}

interface Parts {
  verifier: DeliveryVerifier
  readPayload: ReadPayload
  known: KnownReceipts
  /** @throws where the workspace of the secret, or without one the address, has no token left */
  draw: (request: FastifyRequest, reply: FastifyReply, secret?: DeliverySecret) => Promise<void>
}

/** Receives deliveries, each in the scheme of the secret that has signed it. @throws DeliveryRefusal */
export class DeliveryReceiver {
  readonly #app: FastifyInstance
  readonly #parts: Parts

  constructor(app: FastifyInstance, parts: Parts) {
    this.#app = app
    this.#parts = parts
  }

  async receive(request: FastifyRequest, reply: FastifyReply, delivery: IncomingDelivery): Promise<Received> {
    const { verifier, readPayload, draw } = this.#parts
    const signed = await verifier.verify(delivery)
    if (signed === undefined) refuseUnsigned(delivery)
    const { secret, inUse, key } = signed
    if (secret.isClosed) throw refusals.workspaceClosed()
    const { scheme } = inUse
    checkTime(scheme, delivery)
    let payload: Payload
    try {
      payload = readPayload(request, delivery, scheme.bodies)
    } catch (error) {
      await draw(request, reply, secret)
      throw error
    }
    const challenge = answerHandshake(scheme.handshake, key, (path) => readText([path], payload.payload))
    const identity =
      challenge === undefined
        ? identify(signed, delivery, payload.payload, postgresNow())
        : identifyChallenge(signed, delivery)
    const finding = this.#findRepeated(delivery, identity)
    // Somebody who has captured a webhook can send it under ever new ids: that costs the workspace nothing.
    const isCaptured = canBeCaptured(identity) && (await finding)?.foundBy === 'body'
    const [repeated] = await Promise.all([finding, draw(request, reply, isCaptured ? undefined : secret)])
    const bodyHash = hashBody(delivery)
    const stored = repeated
      ? { ...repeated, isFirst: false, payload }
      : await this.#accept(request, delivery, signed, { identity, bodyHash, payload, challenge })
    const bodyDiffers = !stored.isFirst && stored.bodyHash !== bodyHash
    if (bodyDiffers && scheme.id.hasOneBody) throw new DeliveryRefusal('reused_id', refusals.eventIdReused())
    if (!stored.isFirst && !scheme.id.hasOneBody)
      await noteRepeat(this.#app.database, {
        receiptId: stored.id,
        foundBy: stored.foundBy === 'id' ? identity.keyOf : 'body',
        bodyDiffers,
      })
    return { stored, payload: stored.payload, scheme, bodyDiffers, challenge }
  }

  /**
   * The challenge of a GET, where its token is that of a secret. The address pays for any other, and no receipt says that it came.
   *
   * @returns undefined where the request asks for none
   */
  async answerUrl(
    request: FastifyRequest,
    reply: FastifyReply,
    delivery: IncomingDelivery,
  ): Promise<string | undefined> {
    const asked = readUrlChallenge(delivery.query)
    if (asked === undefined) return undefined
    const secret = await this.#parts.verifier.findByToken(delivery, asked.verifyToken)
    const known = asked.isToken ? secret : undefined
    await this.#parts.draw(request, reply, known)
    if (known === undefined) throw refusals.notSigned()
    const { workspaceId, provider } = delivery
    const key = keyOfChallenge(hash('sha256', asked.challenge, 'hex'))
    const receipt = { workspaceId, provider, key, bodyHash: hashBody(delivery), secretId: known.id }
    await this.#app.inbox.acceptWebhook({ id: newId(), ...receipt }, [])
    return asked.challenge
  }

  async #findRepeated(delivery: IncomingDelivery, identity: Identity): Promise<StoredReceipt | undefined> {
    const { key: id, uniqueHash } = identity
    return (
      (await this.#parts.known.find({ ...delivery, id, uniqueHash })) ??
      (await this.#findPrevious(delivery, identity))
    )
  }

  /** An earlier delivery of the same bytes, in the interval before. */
  async #findPrevious(
    delivery: IncomingDelivery,
    { key, keyOf, previous }: Identity,
  ): Promise<StoredReceipt | undefined> {
    if (previous === undefined) return undefined
    const { webhookReceipt } = this.#app.database.forWorkspace(delivery.workspaceId)
    const identifiedBy =
      keyOf === 'id' ? { uniqueHash: Buffer.from(previous.hash, 'hex') } : { key: keyOfHash(previous.hash) }
    const receivedAt = { gt: new Date(postgresNow() - previous.withinMs) }
    const where = { provider: delivery.provider, ...identifiedBy, receivedAt }
    const row = await webhookReceipt.findFirst({ where, select: { id: true, bodyHash: true, key: true } })
    if (row === null) return undefined
    return {
      id: row.id,
      bodyHash: Buffer.from(row.bodyHash).toString('hex'),
      foundBy: row.key === key ? 'id' : 'body',
    }
  }

  async #accept(
    request: FastifyRequest,
    delivery: IncomingDelivery,
    signed: SignedDelivery,
    { identity, bodyHash, payload, challenge }: AboutWebhook,
  ) {
    const { inbox, eventTypes } = this.#app
    const { workspaceId, provider } = delivery
    const { key, uniqueHash } = identity
    const id = newId()
    const { events, ...made } =
      challenge === undefined
        ? await eventsOfDelivery(signed, delivery, id, payload, eventTypes)
        : { events: [], payload }
    request.eventId = events[0]?.id
    const receipt = { id, workspaceId, provider, key, bodyHash, uniqueHash, secretId: signed.secret.id }
    const stored = await inbox.acceptWebhook(receipt, events)
    if (!stored.isFirst) this.#parts.known.remember({ ...delivery, id: key, uniqueHash }, stored)
    return { ...stored, ...made }
  }
}

/** Whether the same bytes may come under another id. */
function canBeCaptured({ uniqueHash, previous }: Identity): boolean {
  return uniqueHash !== undefined || previous !== undefined
}

interface AboutWebhook {
  identity: Identity
  bodyHash: string
  payload: Payload
  challenge: ChallengeAnswer | undefined
}

/** @throws DeliveryRefusal where the time that is signed is none, or too far from ours */
function checkTime(scheme: Scheme, { headers }: IncomingDelivery): void {
  if (scheme.timestamp === undefined) return
  const at = readSigningTime(scheme, headers)
  if (at === undefined) throw new DeliveryRefusal('timestamp', refusals.unreadableTimestamp())
  if (isOutsideWindow(at, Date.now(), scheme.timestamp.maxAgeSeconds))
    throw new DeliveryRefusal('timestamp', refusals.staleTimestamp())
}
