import {
  describeChanges,
  describeLoad,
  describeMove,
  describeNotRun,
  describeReach,
  formatCount,
} from '@automation/backtest/words'
import { formatStart, formatTime } from '../../../logic/format-time.js'
import { showControls } from '../../../logic/show.js'
import { Bars } from '../../../parts/bars.js'
import { now, When } from '../../../parts/when.js'
import { zone } from '../../../state/preferences.js'
import { linkTo } from '../../../state/use-filters.js'
import { ReportDetails, type ReportDetailsProps } from './report-details.js'

interface ReportProps extends ReportDetailsProps {
  trigger: string
  /** What the evaluated definition is called in a sentence, such as `the draft`. */
  word: string
}

/** What a rule would have done: how often, over time, what is new and what is gone, and to how many. */
export function ReportView({ report, trigger, word, nameClause }: ReportProps) {
  const { considered, scanned, from, to, historyFrom, isComplete } = report
  const shown = report.draft ?? report.active
  return (
    <div class="report">
      <p>
        {considered === 0
          ? `No ${trigger} events`
          : `${formatCount(considered)} ${trigger} ${considered === 1 ? 'event' : 'events'}`}{' '}
        from <When at={from} /> to <When at={to} />
        {considered === 0 && isComplete
          ? ', so there was nothing to evaluate.'
          : `, of ${formatCount(scanned)} events in all. Each was evaluated as of the time when it was accepted. Nothing was executed.`}
      </p>
      {historyFrom !== null && historyFrom > from && (
        <p class="notice">
          Retention removed the events from before <When at={historyFrom} />: they are not in these figures.
        </p>
      )}
      {considered > 0 && shown && (
        <>
          <Counts {...{ report, word }} />
          <NotRun {...{ report, word }} />
          <Plot {...{ report, word }} />
          <Done {...{ report, word }} />
          <ReportDetails {...{ report, nameClause }} />
        </>
      )}
      {report.notes.map((note) => (
        <p key={note} class="sub">
          {showControls(note)}
        </p>
      ))}
    </div>
  )
}

function Counts({ report: { active, draft, difference }, word }: Pick<ReportProps, 'report' | 'word'>) {
  const counts: [string, string, string][] = [
    [formatCount((draft ?? active)?.matched ?? 0), `matches of ${word}`, ''],
    ...(active && draft
      ? [
          [formatCount(active.matched), `matches of v${active.version}`, ''] satisfies [
            string,
            string,
            string,
          ],
        ]
      : []),
    ...(difference
      ? ([
          [`+${formatCount(difference.added)}`, 'new', difference.added > 0 ? 'good' : ''],
          [`−${formatCount(difference.removed)}`, 'gone', difference.removed > 0 ? 'bad' : ''],
        ] satisfies [string, string, string][])
      : []),
  ]
  const notJudged = (draft?.notJudged ?? 0) + (active?.notJudged ?? 0)
  return (
    <>
      <ul class="counts" aria-label="Matches">
        {counts.map(([count, label, tone]) => (
          <li key={label}>
            <strong class={tone}>{count}</strong> <span>{label}</span>
          </li>
        ))}
      </ul>
      {notJudged > 0 && (
        <p class="notice">
          {formatCount(notJudged)} events could not be evaluated, because they exceeded the evaluation limit.
        </p>
      )}
    </>
  )
}

/** For which events it does not run, though it matches, and what moves between the rules of its group. */
function NotRun({ report: { active, draft, moves }, word }: Pick<ReportProps, 'report' | 'word'>) {
  const notRun = [
    ...(draft ? describeNotRun(draft).map((one) => ({ ...one, of: word })) : []),
    ...(active ? describeNotRun(active).map((one) => ({ ...one, of: `v${active.version}` })) : []),
  ]
  return (
    <>
      {notRun.map(({ count, reason, of }) => (
        <p key={`${reason} ${of}`} class="sub">
          {count} that match {of}: {reason}.
        </p>
      ))}
      {moves.length > 0 && (
        <section>
          <h3>Other rules of the group would run for</h3>
          <ul class="plan">
            {moves.map(({ ruleId, name, ...move }) => (
              <li key={ruleId}>
                <a href={linkTo(`rules/${ruleId}`)}>{showControls(name)}</a>: {describeMove(move)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Plot({ report, word }: Pick<ReportProps, 'report' | 'word'>) {
  const { overTime, active, draft, to } = report
  const isCompared = active !== null && draft !== null
  const at = (iso: string) => formatTime(iso, zone.value, now.value)
  return (
    <>
      <Bars
        label={`Matches over time, from ${at(report.from)} to ${at(to)}`}
        bars={overTime.map((bucket) => ({
          from: bucket.at,
          good: draft === null ? bucket.active : bucket.draft,
          bad: 0,
        }))}
        goodWord={isCompared ? `by ${word}` : 'matches'}
        line={
          isCompared
            ? { word: `by v${active.version}`, counts: overTime.map((bucket) => bucket.active) }
            : undefined
        }
        until={at(to)}
      />
      {isCompared && (
        <p class="legend">
          <span class="swatch" aria-hidden="true" /> {word} <span class="swatch outline" aria-hidden="true" />{' '}
          v{active.version}
        </p>
      )}
    </>
  )
}

function Done({ report, word }: Pick<ReportProps, 'report' | 'word'>) {
  const { actions, notKnown, active, draft } = report
  const at = (iso: string) => formatStart(iso, zone.value, now.value)
  const changes = active === null || draft === null ? [] : describeChanges(report)
  return (
    <section>
      <h3>{draft === null ? 'It' : word[0]?.toUpperCase() + word.slice(1)} would have done</h3>
      <ol class="plan numbered">
        {actions.map((action) => (
          <li key={action.index}>
            <strong>{describeReach(action)}</strong>
            <span class="sub">{describeLoad(action, at).join(', ')}</span>
            {[...action.faults, ...action.warnings].map(({ message, count }) => (
              <span key={message} class="sub">
                {formatCount(count)} × {showControls(message)}
              </span>
            ))}
          </li>
        ))}
      </ol>
      {changes.length > 0 && (
        <p class="sub">
          Compared with v{active?.version}: {changes.join(', ')}
        </p>
      )}
      {notKnown.map((text) => (
        <p key={text} class="sub">
          Not known: {showControls(text)}
        </p>
      ))}
    </section>
  )
}
