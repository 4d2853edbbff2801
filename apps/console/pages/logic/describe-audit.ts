import type { AuditAction } from '@automation/client'
import { countOf } from './count-words.js'
import { formatTime, type Zone } from './format-time.js'
import { nameActor } from './name-actor.js'
import { show } from './show.js'

export interface Entry {
  actor: string
  action: string
  subject: string
  details: object
}

/** What names the objects of entries. Each returns undefined for what it does not know. */
export interface Names {
  rule(id: string): string | undefined
  /** The name that a deleted rule had. */
  goneRule?(id: string): string | undefined
  apiKey(id: string): string | undefined
  /** The URL of a subscription. */
  subscription(id: string): string | undefined
  zone: Zone
  now: Date
}

/** A part of a sentence; one with a place leads there: the path of a screen, and its query. */
export type Part = string | { text: string; place: [screen: string, query?: Record<string, string>] }

type Details = Readonly<Record<string, unknown>>
type Subject = { subject: string; details: Details }

/** An entry of the audit log as a sentence, which begins with who did it: `ada added dee as viewer`. */
export function describeAudit({ actor, action, subject, details }: Entry, names: Names): Part[] {
  const entry = { subject, details: details as Details }
  const sentence = Object.hasOwn(sentences, action) ? sentences[action as AuditAction] : undefined
  const rest = sentence
    ?.split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : fill(part, entry, names)))
  return [
    `${nameActor(actor, names)} `,
    ...(rest ?? [`${action} ${subject} ${show(details)}`]).filter((part) => part !== ''),
  ]
}

function fill(name: string, entry: Subject, names: Names): Part {
  const own = Object.hasOwn(fillings, name) ? fillings[name] : undefined
  return own ? own(entry, names) : write(entry.details[name])
}

/** The text of a sentence, without its links. */
export function joinParts(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')
}

/** What was done. A name in braces is that of a filling, or of a detail. */
const sentences: Readonly<Record<AuditAction, string>> = {
  'workspace.created': 'created the workspace {name}',
  'workspace.updated': 'changed the workspace: {changes}',
  'workspace.suspended': 'suspended the workspace',
  'workspace.resumed': 'resumed the workspace',
  'workspace.deletion_asked': 'asked for the deletion of the workspace',
  'workspace.deletion_undone': 'undid the deletion of the workspace',
  'member.added': 'added {subject} as {role}{until}{because}',
  'member.changed': 'made {subject} {role}{was}{until}{because}',
  'member.removed': 'removed {subject}',
  'invitation.created': 'invited somebody as {role}{until}',
  'invitation.accepted': 'accepted the invitation of {invitedBy} as {role}',
  'invitation.revoked': 'revoked an invitation as {role}',
  'embed_session.created': 'made an embed session for {userId} as {role}{until}',
  'embed_session.ended': 'ended the embed session of {userId}',
  'token.minted': 'made a token for {subject}{until}',
  'api_key.created': 'created the API key {name} ({scopes}){until}',
  'api_key.revoked': 'revoked the API key {name}',
  'signing_secret.created': 'created a signing secret for {counterparty}',
  'signing_secret.updated': 'changed {changed} of the signing secret of {counterparty}',
  'signing_secret.retired': 'retired the signing secret of {counterparty}{until}',
  'signing_secret.revoked': 'revoked the signing secret of {counterparty}',
  'credential.created': 'created the credential {subject}',
  'credential.updated': 'replaced the values of the credential {subject}',
  'credential.deleted': 'deleted the credential {subject}',
  'erasure.created': 'erased a value at {path} from events',
  'rule.created': 'created the rule {rule}',
  'rule.updated': 'changed {changed} of the rule {rule}{now}',
  'rule.deleted': 'deleted the rule {name}{which}',
  'rule.activated': 'switched the rule {rule} on',
  'rule.deactivated': 'switched the rule {rule} off{which}',
  'rule.cloned': 'cloned the rule {original} as {rule}',
  'rule.restored': 'restored v{from} of the rule {rule}{now}',
  'rule.paused': 'switched the rule {rule} off after {failures} in a row{which}',
  'rule.promoted': 'promoted the draft of the rule {rule}{now}',
  'rule.rolled_back': 'rolled v{from} of the rule {rule} back: it exceeded a limit of its guard',
  'draft.saved': 'saved a draft of the rule {rule}{based}',
  'draft.deleted': 'deleted the draft of the rule {rule}',
  'guard.ended': 'ended the guard of the rule {rule}',
  'email_template.created': 'created the email template {name}',
  'email_template.updated': 'changed {changed} of the email template {name}',
  'email_template.deleted': 'deleted the email template {name}',
  'event_type.created': 'created the event type {subject}',
  'event_type.deleted': 'deleted the event type {subject}',
  'event_type.updated': 'changed the description of the event type {subject}',
  'subscription.created': 'created the subscription {subscription}{off}',
  'subscription.updated': 'changed the subscription {subscription}: {changes}',
  'subscription.deleted': 'deleted the subscription {url}{which}',
  'execution.retried': 'retried {retried}',
  'execution.decided': 'decided {choice} for {execution}',
  'execution.cancelled': 'cancelled {cancelled}',
  'failures.acknowledged': 'acknowledged failures of the rule {rule}: {error}',
  'failures.unacknowledged': 'took back the acknowledgement of failures of the rule {rule}: {error}',
  'event.replayed': 'replayed {replayed}',
}

export const auditActions = Object.keys(sentences)

const execution = ({ subject }: Subject): Part => ({
  text: 'an execution',
  place: ['executions', { id: subject }],
})

const fillings: Readonly<Record<string, (entry: Subject, names: Names) => Part>> = {
  execution,
  subject: ({ subject }) => subject,
  rule: ruleOf,
  original: ({ details }, names) => ruleOf({ subject: String(details.from), details }, names),
  changes: ({ details }) => listChanges(details),
  was: ({ details: { before } }) => (before === undefined ? '' : ` (was ${write(before)})`),
  now: ({ details: { version } }) => (version === undefined ? '' : ` (now v${write(version)})`),
  based: ({ details: { basedOn } }) => (basedOn === undefined ? '' : `, based on v${write(basedOn)}`),
  off: ({ details: { isActive } }) => (isActive === false ? ', switched off' : ''),
  error: ({ details: { error } }) => write(error) || 'no error',
  failures: ({ details: { failures } }) => countOf(Number(failures ?? 0), 'failure'),
  counterparty: ({ details: { provider } }, { subscription }) =>
    // A provider, or a host; a subscription has its URL.
    subscription(String(provider)) ?? write(provider),
  subscription: ({ subject, details: { url } }, { subscription }) => ({
    text: typeof url === 'string' ? url : (subscription(subject) ?? subject),
    place: ['webhooks', { way: 'out', id: subject }],
  }),
  which: ({ details: { cancelled } }) =>
    cancelled ? `, which cancelled ${countOf(Number(cancelled), 'waiting execution')}` : '',
  because: ({ details: { reason } }) => (reason === undefined ? '' : `: ${write(reason)}`),
  until: ({ details: { expiresAt, retiresAt, endsAt } }, { zone, now }) => {
    const at = expiresAt ?? retiresAt ?? endsAt
    return typeof at === 'string' ? `, until ${formatTime(at, zone, now)}` : ''
  },
  // One, or so many.
  retried: (entry) => countOr(entry.details.retried, 'execution', execution(entry)),
  cancelled: (entry) => countOr(entry.details.cancelled, 'waiting execution', execution(entry)),
  replayed: ({ subject, details: { replayed } }) =>
    countOr(replayed, 'event', { text: 'an event', place: ['events', { id: subject }] }),
}

function countOr(count: unknown, one: string, otherwise: Part): Part {
  return count === undefined ? otherwise : countOf(Number(count), one)
}

function ruleOf(
  { subject, details }: { subject: string; details: Details },
  { rule, goneRule }: Names,
): Part {
  const name = rule(subject)
  if (name !== undefined) return { text: name, place: [`rules/${subject}`, { tab: 'versions' }] }
  const gone = typeof details.name === 'string' ? details.name : goneRule?.(subject)
  return `${gone ?? subject} (deleted)`
}

/** What was changed, and to what. */
function listChanges(details: Details): string {
  return Object.entries(details)
    .map(([name, value]) => `${name} = ${write(value)}`)
    .join(', ')
}

function write(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ')
  return show(value)
}
