import {
  describeChanges,
  describeLoad,
  describeMove,
  describeNotRun,
  describeReach,
  formatCount,
} from '@automation/backtest/words'
import type { StoredBacktest } from '@automation/rules'
import { maskControls } from './format.js'

export type StoredReport = NonNullable<StoredBacktest['report']>

/** A report for people: what was compared, who would have been reached, and what it cannot know. */
export function formatBacktest(name: string, report: StoredReport): string {
  const { from, to, scanned, considered, difference, notKnown, notes } = report
  const lines = [
    `Backtest of rule ${JSON.stringify(name)} from ${formatMinute(from)} to ${formatMinute(to)}: ${formatCount(scanned)} events scanned, ${formatCount(considered)} considered.`,
    formatMatches(report),
    ...formatNotRun(report),
    ...formatNotEvaluated(report),
    ...titled('Other rules of its group:', formatMoves(report)),
    ...titled(
      'The draft, compared with the active version:',
      difference === null ? [] : describeChanges(report),
    ),
    ...titled(`The ${report.draft === null ? 'rule' : 'draft'} would have done:`, formatActions(report)),
    ...titled('Near misses (events that matched but for one condition):', formatNearMisses(report)),
    ...titled('Fields that events lack:', formatFields(report)),
    ...titled('Newest examples:', formatExamples(report)),
    ...titled('Not known:', notKnown),
    ...titled('Notes:', notes),
  ]
  return lines.map(maskControls).join('\n')
}

function formatMatches({ active, draft, difference }: StoredReport): string {
  if (difference === null || active === null || draft === null)
    return `Matches: ${formatCount((draft ?? active)?.matched ?? 0)}${active ? ` (version ${active.version})` : ''}.`
  const { same, added, removed } = difference
  const counts = `${formatCount(same)} the same, ${formatCount(added)} added, ${formatCount(removed)} removed`
  return `Matches: ${formatCount(active.matched)} → ${formatCount(draft.matched)} (version ${active.version} → draft): ${counts}.`
}

function formatNotRun({ active, draft }: StoredReport): string[] {
  return Object.entries({ active, draft }).flatMap(([which, counts]) =>
    counts === null
      ? []
      : describeNotRun(counts).map(({ count, reason }) => `Matched, but ${reason}, ${which}: ${count}.`),
  )
}

function formatMoves({ moves }: StoredReport): string[] {
  return moves.map((move) => `${move.name}: ${describeMove(move)}`)
}

function formatNotEvaluated({ active, draft }: StoredReport): string[] {
  return Object.entries({ active, draft }).flatMap(([which, counts]) =>
    counts === null || counts.notJudged === 0
      ? []
      : [
          `Not evaluated, because of the evaluation limit, ${which}: ${formatCount(counts.notJudged)} events.`,
        ],
  )
}

function formatActions({ actions }: StoredReport): string[] {
  return actions.flatMap((action) => {
    const { index, type, faults, warnings } = action
    const parts = [describeReach(action), ...describeLoad(action, formatMinute)]
    const messages = [...faults, ...warnings].map(
      ({ message, count }) => `    ${formatCount(count)} × ${message}`,
    )
    return [`actions[${index}] ${type}: ${parts.join(', ')}`, ...messages]
  })
}

function formatNearMisses({ clauses }: StoredReport): string[] {
  return clauses
    .filter(({ aloneFailed }) => aloneFailed > 0)
    .map(
      ({ path, held, aloneFailed }) =>
        `${path}: ${formatCount(aloneFailed)}; it held ${held === 1 ? 'once' : `${formatCount(held)} times`}`,
    )
}

/** All events of the trigger have the other ones. */
function formatFields({ fields, considered }: StoredReport): string[] {
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

function formatExamples({ examples }: StoredReport): string[] {
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
