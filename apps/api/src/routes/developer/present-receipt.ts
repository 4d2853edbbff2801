import type { Prisma } from '@automation/database'
import type { Finding } from '@automation/webhooks'
import { Type } from 'typebox'
import { Id, orNull, Timestamp } from '../responses.js'

export const ReceiptState = Type.Enum(['accepted', 'rejected'])

export const Receipt = Type.Object({
  id: Id,
  provider: Type.String(),
  verified: Type.Boolean({ description: 'the signature was right' }),
  receiptState: ReceiptState,
  eventTypes: Type.Array(Type.String(), {
    description: '`webhook_received`, and what else it became; of a rejected one nothing',
  }),
  receivedAt: Timestamp,
  idempotencyKey: orNull(Type.String({ description: 'X-Idempotency-Key; null where it was none' })),
  signatureId: Type.Optional(
    Type.String({ format: 'uuid', description: 'of an accepted one: the secret that signed it' }),
  ),
  eventIds: Type.Optional(Type.Array(Id, { description: 'of an accepted one, in the order of eventTypes' })),
  reason: Type.Optional(Type.String({ description: 'of a rejected one' })),
  findings: Type.Optional(
    Type.Array(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        secretId: Type.Optional(Type.String({ format: 'uuid', description: 'the secret that is meant' })),
      }),
      { description: 'of a rejected one, for admins alone: what the sender did otherwise' },
    ),
  ),
})
export type Receipt = Type.Static<typeof Receipt>

export const acceptedFields = {
  id: true,
  provider: true,
  key: true,
  secretId: true,
  eventTypes: true,
  eventIds: true,
  receivedAt: true,
} as const satisfies Prisma.WebhookReceiptSelect

export function presentAccepted(
  row: Prisma.WebhookReceiptGetPayload<{ select: typeof acceptedFields }>,
): Receipt {
  return {
    id: row.id,
    provider: row.provider,
    verified: true,
    receiptState: 'accepted',
    eventTypes: row.eventTypes.map((type) => type.toLowerCase()),
    receivedAt: row.receivedAt.toISOString(),
    idempotencyKey: row.key,
    signatureId: row.secretId,
    eventIds: row.eventIds,
  }
}

export function presentRejected(row: Prisma.WebhookRejectionGetPayload<object>, isAdmin: boolean): Receipt {
  return {
    id: row.id,
    provider: row.provider,
    verified: row.verified,
    receiptState: 'rejected',
    eventTypes: [],
    receivedAt: row.receivedAt.toISOString(),
    idempotencyKey: row.key,
    reason: row.reason,
    ...(isAdmin ? { findings: row.findings as unknown as Finding[] } : {}),
  }
}
