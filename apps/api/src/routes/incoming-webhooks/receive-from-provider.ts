import { newId } from '@automation/database'
import { noteRepeat, type StoredReceipt } from '@automation/ledger'
import { readTimestamp, type Scheme } from '@automation/webhooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import {
  DeliveryRefusal,
  hashBody,
  type IncomingDelivery,
  isOutsideWindow,
  refuseUnsigned,
} from './delivery.js'
import { type Identity, identify, keyOfHash, sameBodyMs } from './identify.js'
import type { KnownReceipts } from './known-receipts.js'
import type { Payload, ReadPayload } from './payload.js'
import { eventsOfProvider } from './provider-events.js'
import { readText } from './read-text.js'
import type { ProviderSecret, ProviderVerifier, SignedByProvider } from './verify-provider.js'

/** What became of a webhook of a provider. */
export interface Received {
  stored: StoredReceipt & { isFirst: boolean }
  payload: Payload
  scheme: Scheme
  /** The id was known, and the body is another. */
  bodyDiffers: boolean
  /** The text that the provider wants to have back. Nothing follows from such a webhook. */
  challenge: string | undefined
}

interface Parts {
  verifier: ProviderVerifier
  readPayload: ReadPayload
  known: KnownReceipts
  /** @throws where the workspace of the secret, or without one the address, has no token left */
  draw: (request: FastifyRequest, reply: FastifyReply, secret?: ProviderSecret) => Promise<void>
}

/** Receives the webhooks of providers, each in the scheme of the secret that has signed it. @throws DeliveryRefusal */
export class ProviderReceiver {
  readonly #app: FastifyInstance
  readonly #parts: Parts

  constructor(app: FastifyInstance, parts: Parts) {
    this.#app = app
    this.#parts = parts
  }

  async receive(request: FastifyRequest, reply: FastifyReply, delivery: IncomingDelivery): Promise<Received> {
    const { verifier, readPayload, known, draw } = this.#parts
    const signed = await verifier.verify(delivery)
    if (signed === undefined) refuseUnsigned(delivery)
    const { secret, inUse } = signed
    const { scheme } = inUse
    if (scheme.timestamp && isOutsideWindow(readSeconds(scheme, delivery), Date.now()))
      throw new DeliveryRefusal('timestamp', refusals.staleTimestamp())
    let payload: Payload
    try {
      payload = readPayload(request, delivery, scheme.bodies)
    } catch (error) {
      await draw(request, reply, secret)
      throw error
    }
    const challenge = findChallenge(scheme, payload)
    const identity = identify(signed, delivery, payload.payload, Date.now())
    const found = await known.find({ ...delivery, id: identity.key, uniqueHash: identity.uniqueHash })
    // Whoever has captured a webhook can send it under ever new ids: that costs the workspace nothing.
    await draw(request, reply, found?.foundBy === 'body' ? undefined : secret)
    const bodyHash = hashBody(delivery)
    const repeated = found ?? (await this.#findPrevious(delivery, identity))
    const stored = repeated
      ? { ...repeated, isFirst: false, payload }
      : await this.#accept(request, delivery, signed, { identity, bodyHash, payload, challenge })
    const bodyDiffers = !stored.isFirst && stored.bodyHash !== bodyHash
    if (!stored.isFirst)
      await noteRepeat(this.#app.database, {
        receiptId: stored.id,
        foundBy: stored.foundBy === 'id' ? identity.keyOf : 'body',
        bodyDiffers,
      })
    return { stored, payload: stored.payload, scheme, bodyDiffers, challenge }
  }

  /** An earlier delivery of the same bytes, in the interval before. */
  async #findPrevious(
    delivery: IncomingDelivery,
    { key, keyOf, previousHash }: Identity,
  ): Promise<StoredReceipt | undefined> {
    if (previousHash === undefined) return undefined
    const { webhookReceipt } = this.#app.database.forWorkspace(delivery.workspaceId)
    const identifiedBy =
      keyOf === 'id' ? { uniqueHash: Buffer.from(previousHash, 'hex') } : { key: keyOfHash(previousHash) }
    const receivedAt = { gt: new Date(Date.now() - sameBodyMs) }
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
    signed: SignedByProvider,
    { identity, bodyHash, payload, challenge }: AboutWebhook,
  ) {
    const { inbox, eventTypes } = this.#app
    const { workspaceId, provider } = delivery
    const { key, uniqueHash } = identity
    const id = newId()
    const { events, ...made } =
      challenge === undefined
        ? await eventsOfProvider(signed, delivery, id, payload, eventTypes)
        : { events: [], payload }
    request.eventId = events[0]?.id
    const receipt = { id, workspaceId, provider, key, bodyHash, uniqueHash, secretId: signed.secret.id }
    const stored = await inbox.acceptWebhook(receipt, events)
    if (!stored.isFirst) this.#parts.known.remember({ ...delivery, id: key, uniqueHash }, stored)
    return { ...stored, ...made }
  }
}

interface AboutWebhook {
  identity: Identity
  bodyHash: string
  payload: Payload
  challenge: string | undefined
}

/** Some providers have milliseconds. */
function readSeconds(scheme: Scheme, { headers }: IncomingDelivery): string {
  const text = readTimestamp(scheme, headers)
  return text.length > 11 ? String(Number(text) / 1_000) : text
}

const maxChallenge = 1_000

function findChallenge({ handshake }: Scheme, { payload }: Payload): string | undefined {
  if (handshake === undefined || readText([handshake.path], payload) !== handshake.is) return undefined
  const challenge = readText([handshake.challenge], payload)
  return challenge === undefined || challenge.length > maxChallenge ? undefined : challenge
}
