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
type Describe = (entry: { subject: string; details: Details }, names: Names) => Part[]

/** An entry of the audit log as a sentence, which begins with who did it: `ada added dee as viewer`. */
export function describeAudit({ actor, action, subject, details }: Entry, names: Names): Part[] {
  const describe = Object.hasOwn(sentences, action) ? sentences[action] : undefined
  const rest = describe?.({ subject, details: details as Details }, names) ?? [
    `${action} ${subject} ${show(details)}`,
  ]
  return [`${nameActor(actor, names)} `, ...rest.filter((part) => part !== '')]
}

/** The text of a sentence, without its links. */
export function joinParts(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')
}

const sentences: Readonly<Record<string, Describe>> = {
  'workspace.created': ({ details }) => [`created the workspace ${write(details.name)}`],
  'workspace.updated': ({ details }) => [`changed the workspace: ${listChanges(details)}`],
  'member.added': ({ subject, details }) => [`added ${subject} as ${write(details.role)}`],
  'member.changed': ({ subject, details }) => [
    `made ${subject} ${write(details.role)}`,
    details.before === undefined ? '' : ` (was ${write(details.before)})`,
  ],
  'member.removed': ({ subject }) => [`removed ${subject}`],
  'token.minted': ({ subject, details }, names) => [
    `made a token for ${subject}`,
    untilText(details.expiresAt, names),
  ],
  'api_key.created': ({ details }, names) => [
    `created the API key ${write(details.name)} (${write(details.scopes)})`,
    untilText(details.expiresAt, names),
  ],
  'api_key.revoked': ({ details }) => [`revoked the API key ${write(details.name)}`],
  'signing_secret.created': ({ details }, names) => [
    `created a signing secret for ${counterparty(details, names)}`,
  ],
  'signing_secret.updated': ({ details }, names) => [
    `changed ${write(details.changed)} of the signing secret of ${counterparty(details, names)}`,
  ],
  'signing_secret.retired': ({ details }, names) => [
    `retired the signing secret of ${counterparty(details, names)}`,
    untilText(details.retiresAt, names),
  ],
  'signing_secret.revoked': ({ details }, names) => [
    `revoked the signing secret of ${counterparty(details, names)}`,
  ],
  'credential.created': ({ subject }) => [`created the credential ${subject}`],
  'credential.updated': ({ subject }) => [`replaced the values of the credential ${subject}`],
  'credential.deleted': ({ subject }) => [`deleted the credential ${subject}`],
  'rule.created': (entry, names) => ['created the rule ', ruleOf(entry, names)],
  'rule.updated': (entry, names) => [
    `changed ${write(entry.details.changed)} of the rule `,
    ruleOf(entry, names),
    versionText(entry.details.version),
  ],
  'rule.deleted': ({ details }) => [`deleted the rule ${write(details.name)}`, cancelledText(details)],
  'rule.activated': (entry, names) => ['switched the rule ', ruleOf(entry, names), ' on'],
  'rule.deactivated': (entry, names) => [
    'switched the rule ',
    ruleOf(entry, names),
    ' off',
    cancelledText(entry.details),
  ],
  'rule.cloned': (entry, names) => [
    'cloned the rule ',
    ruleOf({ ...entry, subject: String(entry.details.from) }, names),
    ' as ',
    ruleOf(entry, names),
  ],
  'rule.restored': (entry, names) => [
    `restored v${write(entry.details.from)} of the rule `,
    ruleOf(entry, names),
    versionText(entry.details.version),
  ],
  'rule.paused': (entry, names) => [
    'switched the rule ',
    ruleOf(entry, names),
    ` off after ${countOf(Number(entry.details.failures ?? 0), 'failure')} in a row`,
    cancelledText(entry.details),
  ],
  'rule.promoted': (entry, names) => [
    'promoted the draft of the rule ',
    ruleOf(entry, names),
    versionText(entry.details.version),
  ],
  'rule.rolled_back': (entry, names) => [
    `rolled v${write(entry.details.from)} of the rule `,
    ruleOf(entry, names),
    ' back: it exceeded a limit of its guard',
  ],
  'draft.saved': (entry, names) => [
    'saved a draft of the rule ',
    ruleOf(entry, names),
    entry.details.basedOn === undefined ? '' : `, based on v${write(entry.details.basedOn)}`,
  ],
  'draft.deleted': (entry, names) => ['deleted the draft of the rule ', ruleOf(entry, names)],
  'guard.ended': (entry, names) => ['ended the guard of the rule ', ruleOf(entry, names)],
  'email_template.created': ({ details }) => [`created the email template ${write(details.name)}`],
  'email_template.updated': ({ details }) => [
    `changed ${write(details.changed)} of the email template ${write(details.name)}`,
  ],
  'email_template.deleted': ({ details }) => [`deleted the email template ${write(details.name)}`],
  'event_type.created': ({ subject }) => [`created the event type ${subject}`],
  'event_type.deleted': ({ subject }) => [`deleted the event type ${subject}`],
  'event_type.updated': ({ subject }) => [`changed the description of the event type ${subject}`],
  'subscription.created': ({ subject, details }) => [
    'created the subscription ',
    subscriptionOf(subject, write(details.url)),
    details.isActive === false ? ', switched off' : '',
  ],
  'subscription.updated': ({ subject, details }, { subscription }) => [
    'changed the subscription ',
    subscriptionOf(
      subject,
      typeof details.url === 'string' ? details.url : (subscription(subject) ?? subject),
    ),
    `: ${listChanges(details)}`,
  ],
  'subscription.deleted': ({ details }) => [
    `deleted the subscription ${write(details.url)}`,
    cancelledText(details),
  ],
  'execution.retried': ({ subject, details }) =>
    details.retried === undefined
      ? ['retried ', { text: 'an execution', place: ['executions', { id: subject }] }]
      : [`retried ${countOf(Number(details.retried), 'execution')}`],
  'execution.decided': ({ subject, details }) => [
    `decided ${String(details.choice)} for `,
    { text: 'an execution', place: ['executions', { id: subject }] },
  ],
  'execution.cancelled': ({ subject, details }) =>
    details.cancelled === undefined
      ? ['cancelled ', { text: 'an execution', place: ['executions', { id: subject }] }]
      : [`cancelled ${countOf(Number(details.cancelled), 'waiting execution')}`],
  'failures.acknowledged': (entry, names) => [
    'acknowledged failures of the rule ',
    ruleOf(entry, names),
    `: ${write(entry.details.error) || 'no error'}`,
  ],
  'failures.unacknowledged': (entry, names) => [
    'took back the acknowledgement of failures of the rule ',
    ruleOf(entry, names),
    `: ${write(entry.details.error) || 'no error'}`,
  ],
  'event.replayed': ({ subject, details }) =>
    details.replayed === undefined
      ? ['replayed ', { text: 'an event', place: ['events', { id: subject }] }]
      : [`replayed ${countOf(Number(details.replayed), 'event')}`],
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

function subscriptionOf(id: string, text: string): Part {
  return { text, place: ['webhooks', { way: 'out', id }] }
}

/** A provider, or a host; a subscription has its URL. */
function counterparty({ provider }: Details, { subscription }: Names): string {
  return subscription(String(provider)) ?? write(provider)
}

function versionText(version: unknown): string {
  return version === undefined ? '' : ` (now v${write(version)})`
}

function cancelledText({ cancelled }: Details): string {
  const count = Number(cancelled ?? 0)
  return count > 0 ? `, which cancelled ${countOf(count, 'waiting execution')}` : ''
}

function untilText(at: unknown, { zone, now }: Names): string {
  return typeof at === 'string' ? `, until ${formatTime(at, zone, now)}` : ''
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
