import type { EventRow } from '@automation/ledger'
import { Type } from 'typebox'
import { TriggerResult } from '../../acceptance/results.js'
import { Id, orNull, Timestamp } from '../responses.js'

const OptionalId = (description: string) => orNull(Type.String({ format: 'uuid', description }))

export const EventStatus = Type.Enum(['accepted', 'running', 'done', 'quarantined'], {
  description:
    'accepted: no worker has taken it up. running: a run of it is under way or waits. done: all of its runs are finished. quarantined: given up, since three workers ended while they ran it; it can be replayed.',
})
export type EventStatus = Type.Static<typeof EventStatus>

/** As it is listed: neither its data nor what became of each rule. */
export const ListedEvent = Type.Object({
  id: Id,
  workspaceId: Id,
  type: Type.String(),
  ruleId: OptionalId('set where one rule was executed by hand, or one subscription is told'),
  depth: Type.Integer({ description: 'how many EMIT_EVENT lie between it and an event from outside' }),
  causedBy: OptionalId('the execution whose EMIT_EVENT made it'),
  replayOf: OptionalId('the event that it repeats'),
  status: EventStatus,
  crashes: Type.Integer({ description: 'how many workers are known to have ended while they ran it' }),
  acceptedAt: Timestamp,
  doneAt: orNull(
    Type.String({ format: 'date-time', description: 'when it was taken up and its runs were recorded' }),
  ),
  triggered: TriggerResult.properties.triggered,
})
export type ListedEvent = Type.Static<typeof ListedEvent>

export const Event = Type.Object({
  ...ListedEvent.properties,
  data: Type.Object({}, { additionalProperties: true }),
  results: TriggerResult.properties.results,
})

/** Presents an event, listed or by itself. */
export function presentRow(row: EventRow) {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    type: row.type,
    ruleId: row.ruleId,
    depth: row.depth,
    causedBy: row.causedBy,
    replayOf: row.replayOf,
    crashes: row.crashes,
    acceptedAt: row.acceptedAt.toISOString(),
    doneAt: row.doneAt?.toISOString() ?? null,
  }
}
