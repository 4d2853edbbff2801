import { type TProperties, Type } from 'typebox'
import { actorForms } from './audit.js'
import type { pingType, ServiceEventType } from './service-events.js'

const Id = Type.String({ format: 'uuid' })
const Time = Type.String({ format: 'date-time' })
const Changed = Type.Array(Type.String(), { description: 'The fields that have changed' })
const Version = Type.Integer({ description: 'The version of the rule after the change' })
const Cancelled = Type.Integer({ description: 'How many waiting executions were cancelled' })
const From = Type.Integer({ description: 'The previous version' })

const silence = {
  ruleId: Id,
  name: Type.String(),
  expectEvery: Type.String(),
  lastMatchAt: Type.Union([Time, Type.Null()], {
    description: 'When the last event that it matched was accepted; null: it is not known of any',
  }),
  at: Time,
}

/** What each type of event says, as `data` of its body. The document of the API and the tests use the same objects. */
export const serviceEventSchemas = {
  'rule.created': ofRule('A rule was created', {}),
  'rule.updated': ofRule('A rule was changed', {
    changed: Changed,
    version: Version,
    cancelled: Type.Optional(Cancelled),
  }),
  'rule.deleted': ofRule('A rule was deleted', { cancelled: Cancelled }),
  'rule.activated': ofRule('A rule was switched on', {}),
  'rule.deactivated': ofRule('A rule was switched off', { cancelled: Cancelled }),
  'rule.cloned': ofRule('A rule was created as a copy', {
    from: Type.String({ format: 'uuid', description: 'The rule that was copied' }),
  }),
  'rule.restored': ofRule('An earlier version of a rule was restored', {
    from: Type.Integer({ description: 'The version that was restored' }),
    changed: Changed,
    version: Version,
  }),
  'rule.paused': ofRule('A rule was switched off after too many failures in a row', {
    failures: Type.Integer({ description: 'How many executions in a row have failed' }),
    lastError: Type.Union([Type.String(), Type.Null()]),
    cancelled: Cancelled,
  }),
  'rule.promoted': ofRule('A draft became the rule', {
    from: From,
    version: Version,
    changed: Changed,
    guard: Type.Optional(
      Type.Object(
        {
          for: Type.String(),
          maxRunsPerHour: Type.Optional(Type.Integer()),
          maxFailureRate: Type.Optional(Type.Number()),
        },
        { description: 'The guard that watches the new version' },
      ),
    ),
  }),
  'rule.rolled_back': ofRule('A guard has restored the previous version, or switched the rule off', {
    from: From,
    to: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The version that was restored; null: the rule was switched off instead',
    }),
    version: Version,
    reason: Type.Enum(['runs', 'failures']),
    runs: Type.Optional(Type.Integer()),
    maxRunsPerHour: Type.Optional(Type.Integer()),
    failed: Type.Optional(Type.Integer()),
    finished: Type.Optional(Type.Integer()),
    maxFailureRate: Type.Optional(Type.Number()),
  }),
  'rule.silent': Type.Object(silence, {
    description:
      'A rule has matched nothing for as long as its `expectEvery`. It is sent once, until the rule is heard again',
  }),
  'rule.heard': Type.Object(silence, { description: 'A rule that was silent has matched again' }),
  'execution.failed': Type.Object(
    {
      executionId: Id,
      ruleId: Id,
      eventId: Id,
      eventType: Type.String(),
      error: Type.Union([Type.String(), Type.Null()]),
      failedAt: Time,
    },
    { description: 'An execution failed, and is not retried automatically any more' },
  ),
  'receipt.rejected': Type.Object(
    {
      rejectionId: Id,
      provider: Type.String(),
      key: Type.Union([Type.String(), Type.Null()], { description: 'X-Idempotency-Key of the delivery' }),
      reason: Type.String(),
    },
    {
      description:
        'An incoming webhook was rejected. Each API process sends at most 30 of these a minute, and always the newest of a burst',
    },
  ),
  'subscription.ping': Type.Object(
    { subscriptionId: Id, at: Time },
    { description: 'A test of the subscription, which an admin has asked for' },
  ),
} satisfies Record<ServiceEventType | typeof pingType, object>

/** `actor` and `at` are those of the audit log, and the rest its details. */
function ofRule<Details extends TProperties>(description: string, details: Details) {
  return Type.Object(
    {
      ruleId: Id,
      name: Type.Optional(Type.String({ description: 'Absent if the rule was deleted in the meantime' })),
      ...details,
      actor: Type.String({ description: `Who did it: ${actorForms}` }),
      at: Time,
    },
    { description },
  )
}
