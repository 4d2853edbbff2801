import { Type } from 'typebox'

/** The catalogue: the event types that trigger rules. A new type needs one line here. */
export const eventTypes = [
  'LEAD_CREATED',
  'LEAD_UPDATED',
  'LEAD_DELETED',
  'LEAD_ASSIGNED',
  'LEAD_STATUS_CHANGED',
  'LEAD_SCORE_CHANGED',
  'LEAD_SCORE_THRESHOLD',
  'LEAD_CONVERTED',
  'CONTACT_CREATED',
  'CONTACT_UPDATED',
  'DEAL_CREATED',
  'DEAL_STAGE_CHANGED',
  'DEAL_WON',
  'DEAL_LOST',
  'TASK_CREATED',
  'TASK_COMPLETED',
  'TASK_OVERDUE',
  'FORM_SUBMITTED',
  'EMAIL_OPENED',
  'EMAIL_CLICKED',
  'EMAIL_BOUNCED',
  'EMAIL_REPLIED',
  'APPOINTMENT_BOOKED',
  'APPOINTMENT_CANCELLED',
  'TAG_ADDED',
  'TAG_REMOVED',
  'WEBHOOK_RECEIVED',
] as const

export const EventType = Type.Enum(eventTypes, { title: 'EventType' })
export type EventType = Type.Static<typeof EventType>

const known: ReadonlySet<string> = new Set(eventTypes)

/** True for a name of the catalogue, in its exact spelling. */
export function isEventType(name: string): name is EventType {
  return known.has(name)
}
