import { Type } from 'typebox'
import { decisionType } from './results/decision.js'
import { scheduleType } from './schedule/schedule.js'
import { findNearest } from './texts/nearest.js'

export interface EventTypeDefinition {
  readonly type: string
  readonly description: string
  /** Data of such an event. The sender decides which fields there are; only WEBHOOK_RECEIVED has a fixed shape. */
  readonly example: object
}

const lead = {
  id: 'lead-7',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  score: 95,
  status: 'new',
  country: 'DE',
  owner: 'grace',
  tags: ['new', 'vip'],
}
const contact = { id: 'contact-3', name: 'Ada Lovelace', email: 'ada@example.com', company: 'Acme' }
const deal = {
  id: 'deal-9',
  name: 'Acme, 20 seats',
  amount: 4800,
  currency: 'EUR',
  stage: 'offer',
  owner: 'grace',
}
const task = {
  id: 'task-4',
  title: 'Call Ada',
  assigneeId: 'grace',
  priority: 'high',
  dueAt: '2026-03-10T12:00:00Z',
}
const email = { messageId: 'mail-5', to: 'ada@example.com', subject: 'Welcome', campaign: 'spring' }
const appointment = {
  id: 'appointment-2',
  email: 'ada@example.com',
  startsAt: '2026-03-12T09:00:00Z',
  host: 'grace',
}

/** The catalogue: the event types that trigger rules. A new type needs one entry here. */
export const eventTypeDefinitions = [
  { type: 'LEAD_CREATED', description: 'A lead was created.', example: lead },
  {
    type: 'LEAD_UPDATED',
    description: 'Fields of a lead changed.',
    example: { ...lead, changed: ['phone'] },
  },
  { type: 'LEAD_DELETED', description: 'A lead was deleted.', example: lead },
  { type: 'LEAD_ASSIGNED', description: 'A lead got an owner.', example: { ...lead, previousOwner: null } },
  {
    type: 'LEAD_STATUS_CHANGED',
    description: 'The status of a lead changed.',
    example: { ...lead, previousStatus: 'new', status: 'qualified' },
  },
  {
    type: 'LEAD_SCORE_CHANGED',
    description: 'The score of a lead changed.',
    example: { ...lead, previousScore: 40 },
  },
  {
    type: 'LEAD_SCORE_THRESHOLD',
    description: 'The score of a lead crossed a limit of your system.',
    example: { ...lead, threshold: 80 },
  },
  {
    type: 'LEAD_CONVERTED',
    description: 'A lead became a contact.',
    example: { ...lead, contactId: 'contact-3' },
  },
  { type: 'CONTACT_CREATED', description: 'A contact was created.', example: contact },
  {
    type: 'CONTACT_UPDATED',
    description: 'Fields of a contact changed.',
    example: { ...contact, changed: ['email'] },
  },
  { type: 'DEAL_CREATED', description: 'A deal was created.', example: deal },
  {
    type: 'DEAL_STAGE_CHANGED',
    description: 'A deal moved to another stage.',
    example: { ...deal, previousStage: 'demo' },
  },
  { type: 'DEAL_WON', description: 'A deal was won.', example: { ...deal, stage: 'won' } },
  {
    type: 'DEAL_LOST',
    description: 'A deal was lost.',
    example: { ...deal, stage: 'lost', reason: 'price' },
  },
  { type: 'TASK_CREATED', description: 'A task was created in your system.', example: task },
  {
    type: 'TASK_COMPLETED',
    description: 'A task was completed.',
    example: { ...task, completedBy: 'grace' },
  },
  { type: 'TASK_OVERDUE', description: 'A task is past its due time.', example: task },
  {
    type: 'FORM_SUBMITTED',
    description: 'A form was submitted.',
    example: { form: 'contact', page: '/pricing', email: 'ada@example.com', fields: { message: 'Call me' } },
  },
  { type: 'EMAIL_OPENED', description: 'A recipient opened an email.', example: email },
  {
    type: 'EMAIL_CLICKED',
    description: 'A recipient followed a link in an email.',
    example: { ...email, url: 'https://example.com/offer' },
  },
  {
    type: 'EMAIL_BOUNCED',
    description: 'An email could not be delivered.',
    example: { ...email, reason: 'mailbox full' },
  },
  {
    type: 'EMAIL_REPLIED',
    description: 'A recipient replied to an email.',
    example: { ...email, text: 'Yes, please' },
  },
  { type: 'APPOINTMENT_BOOKED', description: 'An appointment was booked.', example: appointment },
  {
    type: 'APPOINTMENT_CANCELLED',
    description: 'An appointment was cancelled.',
    example: { ...appointment, reason: 'ill' },
  },
  {
    type: 'TAG_ADDED',
    description: 'A tag was added to a lead or contact.',
    example: { id: 'lead-7', tag: 'vip', tags: ['new', 'vip'] },
  },
  {
    type: 'TAG_REMOVED',
    description: 'A tag was removed from a lead or contact.',
    example: { id: 'lead-7', tag: 'vip', tags: ['new'] },
  },
  {
    type: 'WEBHOOK_RECEIVED',
    description:
      'A signed webhook was accepted. The service itself makes this event. payload is the JSON body of the delivery. A body { type, data } with a type of this list (lead.created is LEAD_CREATED) becomes a second event, with that data.',
    example: {
      provider: 'billing',
      receiptId: '0197a3c2-7b1e-7c44-9d0a-3f5b8e2c6a10',
      payload: { type: 'invoice.paid', data: { invoice: 'R-1001', amount: 4800, customer: 'Acme' } },
    },
  },
] as const satisfies readonly EventTypeDefinition[]

/** Types of events that nobody can send. They are not in the catalogue. */
export const reservedTypeDefinitions: readonly EventTypeDefinition[] = [
  {
    type: scheduleType,
    description:
      'A tick of the schedule of a rule, for that rule alone. missed is the number of ticks before it that did not run.',
    example: {
      scheduledAt: '2026-03-30T07:00:00.000Z',
      localTime: '2026-03-30T09:00:00.000+02:00',
      missed: 0,
    },
  },
  {
    type: decisionType,
    description:
      'Decides in a test of rules what a WAIT for a decision asks. The service makes no event of this type.',
    example: { choice: 'approve', reason: 'An old customer' },
  },
]

export const eventTypes = eventTypeDefinitions.map(({ type }) => type)

const namePattern = '^[A-Z][A-Z0-9_]{1,63}$'
const namedLike = new RegExp(namePattern)

/** The name of a type: of the catalogue, or of a workspace's own. Which of these there are, the workspace knows. */
export const EventType = Type.String({
  title: 'EventType',
  pattern: namePattern,
  patternError: 'begin with a capital letter, and have 2 to 64 capital letters, digits and underscores',
  description: 'Type of an event: one of the catalogue, or one of the workspace (GET /api/event-types)',
  examples: ['LEAD_CREATED', 'PAYMENT_FAILED'],
})
export type EventType = string

/** Whether a type may have this name. */
export function isEventTypeName(name: string): boolean {
  return namedLike.test(name)
}

const known: ReadonlySet<string> = new Set(eventTypes)

const reserved: ReadonlySet<string> = new Set(reservedTypeDefinitions.map(({ type }) => type))

/** Whether nobody can send events of this type. */
export function isReservedType(name: string): boolean {
  return reserved.has(name)
}

/**
 * The second half of a message about a type that the workspace does not have.
 *
 * @param own its own types
 */
export function describeUnknownType(name: string, own: readonly string[] = []): string {
  if (isReservedType(name)) return 'Only the service makes events of this type'
  const nearest = findNearest(name, [...eventTypes, ...own])
  return nearest.length > 0
    ? `Nearest: ${nearest.join(', ')}`
    : 'It is none of the catalogue (/docs/rules#events): create it first if it is one of your own'
}

/** Whether a rule of any workspace may have this trigger. */
export function isTrigger(name: string): boolean {
  return isEventType(name) || name === scheduleType
}

/** True for a name of the catalogue, in its exact spelling. */
export function isEventType(name: string): boolean {
  return known.has(name)
}
