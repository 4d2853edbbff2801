import type { StoredBacktest } from '@automation/rules'
import { maskControls } from './format.js'

export type Report = NonNullable<StoredBacktest['report']>
type Action = Report['actions'][number]
type ActionDifference = NonNullable<Report['actionDifference']>[number]

/** A report for people: what was compared, who would have been reached, and what it cannot know. */
export function formatBacktest(name: string, report: Report): string {
  const { from, to, scanned, considered, difference, notKnown, notes } = report
  const lines = [
    `Backtest of rule ${JSON.stringify(name)} from ${formatMinute(from)} to ${formatMinute(to)}: ${formatCount(scanned)} events scanned, ${formatCount(considered)} considered.`,
    formatMatches(report),
    ...formatNotJudged(report),
    ...titled(
      'The draft, compared with the active version:',
      difference === null ? [] : formatChanges(report),
    ),
    ...titled(`The ${report.draft === null ? 'rule' : 'draft'} would have done:`, formatActions(report)),
    ...titled('Near misses, events that one clause alone kept from matching:', formatNearMisses(report)),
    ...titled('Fields that events lack:', formatFields(report)),
    ...titled('Newest examples:', formatExamples(report)),
    ...titled('Not known:', notKnown),
    ...titled('Notes:', notes),
  ]
  return lines.map(maskControls).join('\n')
}

/**
 * What changes, for each type of action: `+1,402 mails to 1,204 addresses`, `-20 mails` or `the same 812 mails`. Without an active version all of it
 * is new; without a draft all of it goes.
 */
export function formatChanges({ actions, active, draft, actionDifference }: Report): string[] {
  if (actionDifference !== null) return actionDifference.flatMap(describeChange)
  if (active !== null && draft !== null) return []
  const sign = draft === null ? '-' : '+'
  return actions.filter(({ done }) => done > 0).map((action) => `${sign}${describeReach(action)}`)
}

function describeChange({ same, added, removed, ...action }: ActionDifference): string[] {
  if (added === 0 && removed === 0) return same === 0 ? [] : [`the same ${describeCount(action.type, same)}`]
  return [
    ...(added > 0 ? [`+${describeReach({ ...action, done: added })}`] : []),
    ...(removed > 0 ? [`-${describeCount(action.type, removed)}`] : []),
  ]
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** The first is what is done, the second whom it reaches. */
const nouns: Record<string, [done: string, target?: [one: string, many: string]]> = {
  SEND_EMAIL: ['mail', ['address', 'addresses']],
  CREATE_TASK: ['task', ['assignee', 'assignees']],
  SEND_WEBHOOK: ['webhook', ['host', 'hosts']],
  SEND_NOTIFICATION: ['notification', ['host', 'hosts']],
  EMIT_EVENT: ['event'],
  WAIT: ['wait'],
}

function describeCount(type: string, done: number): string {
  const [noun] = nouns[type] ?? [type]
  return `${formatCount(done)} ${noun}${done === 1 ? '' : 's'}`
}

function describeReach({
  type,
  done,
  targets,
  isTargetsEstimated,
}: Pick<Action, 'type' | 'done' | 'targets' | 'isTargetsEstimated'>): string {
  const [, target] = nouns[type] ?? [type]
  const count = describeCount(type, done)
  if (target === undefined || targets === 0) return count
  const about = isTargetsEstimated ? 'about ' : ''
  return `${count} to ${about}${formatCount(targets)} ${target[targets === 1 ? 0 : 1]}`
}

function formatMatches({ active, draft, difference }: Report): string {
  if (difference === null || active === null || draft === null)
    return `Matches: ${formatCount((draft ?? active)?.matched ?? 0)}${active ? ` (version ${active.version})` : ''}.`
  const { same, added, removed } = difference
  const counts = `${formatCount(same)} the same, ${formatCount(added)} added, ${formatCount(removed)} removed`
  return `Matches: ${formatCount(active.matched)} → ${formatCount(draft.matched)} (version ${active.version} → draft): ${counts}.`
}

function formatNotJudged({ active, draft }: Report): string[] {
  return Object.entries({ active, draft }).flatMap(([which, counts]) =>
    counts === null || counts.notJudged === 0
      ? []
      : [`Not judged (RULE_WORK, EVENT_WORK), ${which}: ${formatCount(counts.notJudged)} events.`],
  )
}

function formatActions({ actions }: Report): string[] {
  return actions.flatMap((action) => {
    const { index, type, skipped, faulty, mostToOne, busiestMinute, faults, warnings, targets } = action
    const atLeast = (isAtLeast: boolean) => (isAtLeast ? 'at least ' : '')
    const parts = [
      describeReach(action),
      targets > 0 &&
        mostToOne > 1 &&
        `${atLeast(action.isTargetsEstimated)}${formatCount(mostToOne)} to one of them`,
      busiestMinute !== null &&
        `${atLeast(busiestMinute.isAtLeast)}${formatCount(busiestMinute.count)} in the minute of ${formatMinute(busiestMinute.at)}`,
      skipped > 0 && `${formatCount(skipped)} skipped`,
      faulty > 0 && `${formatCount(faulty)} faulty`,
    ].filter(Boolean)
    const messages = [...faults, ...warnings].map(
      ({ message, count }) => `    ${formatCount(count)} × ${message}`,
    )
    return [`actions[${index}] ${type}: ${parts.join(', ')}`, ...messages]
  })
}

function formatNearMisses({ clauses }: Report): string[] {
  return clauses
    .filter(({ aloneFailed }) => aloneFailed > 0)
    .map(
      ({ path, held, aloneFailed }) =>
        `${path}: ${formatCount(aloneFailed)}; it held ${held === 1 ? 'once' : `${formatCount(held)} times`}`,
    )
}

/** All events of the trigger have the other ones. */
function formatFields({ fields, considered }: Report): string[] {
  return fields
    .filter(({ present }) => present < considered)
    .map(({ path, present, didYouMean }) => {
      const hint = didYouMean === null ? '' : `; did you mean ${didYouMean}?`
      return present === 0
        ? `${path}: in no event${hint}`
        : `${path}: in ${formatCount(present)} events${hint}`
    })
}

const shownExamples = 3

function formatExamples({ examples }: Report): string[] {
  const { added, removed, nearMisses } = examples
  return Object.entries({ added, removed, 'near misses': nearMisses }).flatMap(([kind, ids]) =>
    ids.length === 0 ? [] : [`${kind}: ${ids.slice(0, shownExamples).join(', ')}`],
  )
}

function titled(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)]
}

export function formatMinute(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)}Z`
}
