import { orNull } from '@automation/access'
import type { EventProgress, EventRow, ListedEventRow } from '@automation/history'
import { findQuarantineReason } from '@automation/ledger'
import { Type } from 'typebox'
import { TriggerResult } from '../../acceptance/results.js'
import { Excerpt } from '../../lists/excerpt.js'
import { Id, Timestamp } from '../../responses.js'

const OptionalId = (description: string) => orNull(Type.String({ format: 'uuid', description }))

export const EventStatus = Type.Enum(['accepted', 'running', 'done', 'quarantined'], {
  title: 'EventStatus',
  description:
    'accepted: no worker has claimed the event. running: an execution of it is not finished. done: all of its executions are finished. quarantined: five workers crashed while they processed the event, or it could not be processed or stored in five attempts, so it is not processed any more. It can be replayed.',
})
export type EventStatus = Type.Static<typeof EventStatus>

/** Any JSON object: which fields there are is the sender's choice. */
export const EventData = Type.Unsafe<object>({
  title: 'EventData',
  description: 'Data of the event: any JSON object. GET /api/vocabulary has an example for each event type.',
  examples: [{ name: 'Ada', email: 'ada@example.com', score: 95, status: 'new' }],
  type: 'object',
  additionalProperties: true,
})

export const QuarantineReason = Type.Optional(
  Type.String({ description: 'If the event is quarantined: why' }),
)

export const ErasedAt = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'If a value of a person was erased from the data: when. Conditions that looked at it may hold no more.',
  }),
)

/** An event in a list, without its data and results. */
export const ListedEvent = Type.Object(
  {
    id: Id,
    workspaceId: Id,
    type: Type.String(),
    eventType: Type.String({ description: 'The same as type' }),
    ruleId: OptionalId(
      'Set if the event is addressed to one rule (executed manually). For a delivery it is the id of the subscription, as in subscriptionId.',
    ),
    subscriptionId: OptionalId('Set if the event is delivered to one subscription'),
    depth: Type.Integer({
      description: 'Number of EMIT_EVENT actions between this event and an event from outside',
    }),
    causedBy: OptionalId('Execution that emitted the event with EMIT_EVENT'),
    replayOf: OptionalId('Event that this one replays'),
    chosenRules: orNull(
      Type.Array(Id, {
        description: 'Set if the event is a replay of chosen rules: their ids. null: all rules of its type',
      }),
    ),
    status: EventStatus,
    crashes: Type.Integer({
      description: 'Number of workers known to have crashed while they processed the event',
    }),
    quarantineReason: QuarantineReason,
    acceptedAt: Timestamp,
    doneAt: orNull(
      Type.String({
        format: 'date-time',
        description: 'When a worker evaluated the rules and recorded the executions',
      }),
    ),
    erasedAt: ErasedAt,
    triggered: TriggerResult.properties.triggered,
    matched: Type.Integer({
      minimum: 0,
      description: 'Number of executions: rules that matched and were not outranked',
    }),
    suppressed: Type.Integer({
      minimum: 0,
      description: 'Of these, the executions that `perKey` of their rule did not grant',
    }),
    failed: Type.Integer({ minimum: 0, description: 'Of these, the executions that failed' }),
    continuesAt: orNull(
      Type.String({
        format: 'date-time',
        description:
          'When the next of its executions continues. null if an execution is in progress, or none waits.',
      }),
    ),
    excerpt: Excerpt,
  },
  { title: 'EventSummary' },
)
export type ListedEvent = Type.Static<typeof ListedEvent>

const { excerpt: _excerpt, ...event } = ListedEvent.properties

export const Event = Type.Object(
  {
    ...event,
    data: EventData,
    matched: TriggerResult.properties.matched,
    results: TriggerResult.properties.results,
  },
  { title: 'Event' },
)

/** Presents an event in a list. */
export function presentListedEvent(row: ListedEventRow) {
  const { status, triggered } = row
  return { ...presentEventRow(row), status, triggered, ...presentProgress(row.progress) }
}

export function presentProgress({ continuesMs, ...counts }: EventProgress) {
  return { ...counts, continuesAt: continuesMs === null ? null : new Date(continuesMs).toISOString() }
}

/** Presents an event, listed or by itself. */
export function presentEventRow(row: EventRow) {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    type: row.type,
    eventType: row.type,
    ruleId: row.addresseeId,
    subscriptionId: row.addresseeKind === 'subscription' ? row.addresseeId : null,
    depth: row.depth,
    causedBy: row.causedBy,
    replayOf: row.replayOf,
    // Prisma reads none of a list as an empty one.
    chosenRules: row.chosenRuleIds?.length ? row.chosenRuleIds : null,
    crashes: row.crashes,
    ...presentQuarantine(row),
    acceptedAt: row.acceptedAt.toISOString(),
    doneAt: row.doneAt?.toISOString() ?? null,
    ...presentErased(row),
  }
}

export function presentErased({ erasedAt }: { erasedAt: Date | null }) {
  return erasedAt === null ? {} : { erasedAt: erasedAt.toISOString() }
}

export function presentQuarantine(event: Parameters<typeof findQuarantineReason>[0]) {
  const quarantineReason = findQuarantineReason(event)
  return quarantineReason === undefined ? {} : { quarantineReason }
}
