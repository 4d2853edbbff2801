import type { ActionType } from '@automation/engine'
import type { ActionDifferenceReport, ActionReport, BacktestReport, GroupMove } from './report.js'

/** The first is what is done, the second whom it reaches. */
const nouns: Record<ActionType, [done: string, target?: [one: string, many: string]]> = {
  SEND_EMAIL: ['mail', ['address', 'addresses']],
  CREATE_TASK: ['task', ['assignee', 'assignees']],
  SEND_WEBHOOK: ['webhook', ['host', 'hosts']],
  SEND_NOTIFICATION: ['notification', ['host', 'hosts']],
  EMIT_EVENT: ['event'],
  WAIT: ['wait'],
}

/** `1,402 mails to 1,204 addresses`. The command line and the console say the same. */
export function describeReach({
  type,
  done,
  targets,
  isTargetsEstimated,
}: Pick<ActionReport, 'type' | 'done' | 'targets' | 'isTargetsEstimated'>): string {
  const [, target] = nounsOf(type)
  const count = describeCount(type, done)
  if (target === undefined || targets === 0) return count
  const about = isTargetsEstimated ? 'about ' : ''
  return `${count} to ${about}${formatCount(targets)} ${target[targets === 1 ? 0 : 1]}`
}

/**
 * What changes, for each type of action: `+1,402 mails to 1,204 addresses`, `-20 mails` or `the same 812 mails`. Without an active version all of it
 * is new; without a draft all of it goes.
 */
export function describeChanges({
  actions,
  active,
  draft,
  actionDifference,
}: Pick<BacktestReport, 'actions' | 'active' | 'draft' | 'actionDifference'>): string[] {
  if (actionDifference) return actionDifference.flatMap(describeChange)
  if (active !== null && draft !== null) return []
  const sign = draft === null ? '-' : '+'
  return actions.filter(({ done }) => done > 0).map((action) => `${sign}${describeReach(action)}`)
}

function describeChange({ same, added, removed, ...action }: ActionDifferenceReport): string[] {
  if (added === 0 && removed === 0) return same === 0 ? [] : [`the same ${describeCount(action.type, same)}`]
  return [
    ...(added > 0 ? [`+${describeReach({ ...action, done: added })}`] : []),
    ...(removed > 0 ? [`-${describeCount(action.type, removed)}`] : []),
  ]
}

function describeCount(type: string, done: number): string {
  const [noun] = nounsOf(type)
  return `${formatCount(done)} ${noun}${done === 1 ? '' : 's'}`
}

/** What else a reader must know of an action: the most to one target, the busiest minute, what was not done. */
export function describeLoad(action: ActionReport, formatMinute: (iso: string) => string): string[] {
  const { skipped, faulty, notKnown, mostToOne, busiestMinute, targets } = action
  const atLeast = (isAtLeast: boolean) => (isAtLeast ? 'at least ' : '')
  return [
    targets > 0 &&
      mostToOne > 1 &&
      `${atLeast(action.isTargetsEstimated)}${formatCount(mostToOne)} to one of them`,
    busiestMinute !== null &&
      `${atLeast(busiestMinute.isAtLeast)}${formatCount(busiestMinute.count)} in the minute of ${formatMinute(busiestMinute.at)}`,
    skipped > 0 && `${formatCount(skipped)} skipped`,
    faulty > 0 && `${formatCount(faulty)} faulty`,
    notKnown > 0 && `${formatCount(notKnown)} not known`,
  ].filter((part) => part !== false)
}

/** `4 events more, 2 events fewer`: for which a rule of the group would run instead of the tested one, and the other way round. */
export function describeMove({ gained, lost }: Pick<GroupMove, 'gained' | 'lost'>): string {
  const parts = [gained > 0 && `${countEvents(gained)} more`, lost > 0 && `${countEvents(lost)} fewer`]
  return parts.filter((part) => part !== false).join(', ')
}

/** Why a rule that matched did not run, or not to its end, for how many events. */
export function describeNotRun({
  outranked,
  suppressed,
  replaced,
}: Pick<NonNullable<BacktestReport['draft']>, 'outranked' | 'suppressed' | 'replaced'>) {
  return [
    { events: outranked, reason: 'another rule of the group came first' },
    { events: suppressed, reason: 'perKey did not grant it' },
    { events: replaced, reason: 'a newer execution of the key replaced it' },
  ].flatMap(({ events, reason }) => (events === 0 ? [] : [{ count: countEvents(events), reason }]))
}

/** `3 events`. */
export function countEvents(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** A stored report may name a type that this version does not know. */
function nounsOf(type: string): [done: string, target?: [one: string, many: string]] {
  return Object.hasOwn(nouns, type) ? nouns[type as ActionType] : [type]
}
