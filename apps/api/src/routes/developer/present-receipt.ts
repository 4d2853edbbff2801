import { orNull } from '@automation/access'
import type { Prisma } from '@automation/database'
import type { SignatureFinding } from '@automation/webhooks'
import { Type } from 'typebox'
import { DataWarnings, Id, Timestamp } from '../../responses.js'

export const ReceiptState = Type.Enum(['accepted', 'rejected'])

export const Receipt = Type.Object(
  {
    id: Id,
    provider: Type.String(),
    verified: Type.Boolean({ description: 'true if the signature was correct' }),
    receiptState: ReceiptState,
    eventTypes: Type.Array(Type.String(), {
      description:
        'Event types that the webhook became: `webhook_received`, and the type that its body names. Empty if it was rejected.',
    }),
    receivedAt: Timestamp,
    idempotencyKey: orNull(
      Type.String({
        description:
          'X-Idempotency-Key, or what identifies a webhook of a provider: its id, or a hash of what is signed (of a challenge `challenge:` and a hash). null if it was rejected without one.',
      }),
    ),
    signatureId: Type.Optional(
      Type.String({ format: 'uuid', description: 'If accepted: id of the secret that signed the webhook' }),
    ),
    eventIds: Type.Optional(
      Type.Array(Id, { description: 'If accepted: ids of the events, in the order of eventTypes' }),
    ),
    handshake: Type.Optional(
      Type.Boolean({
        description: 'The provider only asked whether the endpoint is there: no event followed',
      }),
    ),
    repeatedBy: Type.Optional(
      Type.Enum(['id', 'body'], {
        description:
          'Schemes of providers, if it was delivered again: whether its id or the hash of what is signed said so, the last time',
      }),
    ),
    bodyDiffers: Type.Optional(
      Type.Boolean({ description: 'true if a repeated delivery had the same id and another body' }),
    ),
    warnings: Type.Optional({
      ...DataWarnings,
      description: 'If read by its id: what of the webhook was stored as another value, or became no event',
    }),
    reason: Type.Optional(Type.String({ description: 'If rejected: the reason' })),
    findings: Type.Optional(
      Type.Array(
        Type.Object(
          {
            code: Type.String(),
            message: Type.String(),
            secretId: Type.Optional(
              Type.String({ format: 'uuid', description: 'Secret that the finding refers to' }),
            ),
          },
          { title: 'Finding' },
        ),
        { description: 'If rejected, for admins only: what the sender did differently' },
      ),
    ),
  },
  { title: 'Receipt' },
)
export type Receipt = Type.Static<typeof Receipt>

export const acceptedFields = {
  id: true,
  provider: true,
  key: true,
  secretId: true,
  eventTypes: true,
  eventIds: true,
  receivedAt: true,
  repeatedBy: true,
  bodyDiffers: true,
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
    ...(row.eventIds.length === 0 && { handshake: true }),
    ...(row.repeatedBy !== null && { repeatedBy: row.repeatedBy as 'id' | 'body' }),
    ...(row.bodyDiffers && { bodyDiffers: true }),
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
    ...(isAdmin ? { findings: row.findings as unknown as SignatureFinding[] } : {}),
  }
}
