import { type BacktestSubject, findOwnSchedule } from '@automation/backtest'
import { clockSkewMs, timeOf } from '@automation/database'
import { type ClaimedBacktest, findHistoryFrom } from '@automation/rules'

/**
 * The furthest time before which retention may have removed events that no slice had read: that of now (remove-history.ts), where it is ahead of the
 * position before this slice.
 */
export function findOvertaken(claimed: ClaimedBacktest, defaultDays: number): number | null {
  const { historyFrom, retentionDays } = claimed
  const border = findHistoryFrom(retentionDays, defaultDays, Date.now() - clockSkewMs)
  return border !== null && border > positionOf(claimed)
    ? Math.max(border, historyFrom ?? border)
    : historyFrom
}

/** Epoch ms: the events before then are in its state. */
export function positionOf({ rangeFrom, after }: ClaimedBacktest): number {
  return after === null ? rangeFrom : timeOf(after)
}

/** What the report cannot know, or what changed since it was asked for. */
export function listNotes(
  { subject, presentVersion }: ClaimedBacktest,
  historyFrom: number | null,
): string[] {
  return [
    ...noteRule(subject, presentVersion),
    ...(historyFrom !== null && subject.from < historyFrom
      ? [
          `Retention removed the events before ${new Date(historyFrom).toISOString()}. Those that were not yet read are missing.`,
        ]
      : []),
    ...noteEarlier(subject),
    ...noteGroup(subject),
    ...noteTicks(subject),
  ]
}

function noteRule({ ruleId, active }: BacktestSubject, presentVersion: number | null): string[] {
  if (ruleId === undefined || active === undefined) return []
  if (presentVersion === null) return ['The rule was deleted after the backtest was created.']
  return presentVersion === active.version ? [] : [`The rule now has version ${presentVersion}.`]
}

/** A rule that has the work of an event to itself needs no note. */
function noteEarlier({ earlier = [] }: BacktestSubject): string[] {
  if (earlier.length === 0) return []
  return [
    `The evaluation limit that all rules of an event share is simulated with the ${earlier.length === 1 ? 'one rule' : `${earlier.length} rules`} before it that could use it up, as they were when the backtest was created or continued.`,
  ]
}

function noteTicks(subject: BacktestSubject): string[] {
  return findOwnSchedule(subject) === undefined
    ? []
    : [
        'The ticks of the draft were never made: they are generated from its schedule, each at the moment at which it would have been due.',
      ]
}

function noteGroup({ active, draft, members }: BacktestSubject): string[] {
  const isGrouped = [active?.definition, draft].some((one) => typeof one?.group === 'string')
  if (!isGrouped) return []
  if (members === undefined)
    return [
      'The other rules of its group have too many versions to be simulated: each event counts that the conditions match, also if another rule would have run.',
    ]
  return members.length === 0
    ? []
    : [
        'The other rules of its group are evaluated in the versions of each event, each with an evaluation limit of its own.',
      ]
}
