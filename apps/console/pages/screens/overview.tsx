import type { AttentionItem, Overview as Counts } from '@automation/client'
import { useEffect, useRef } from 'preact/hooks'
import { formatCount } from '../logic/count-words.js'
import { countAcknowledged, describeState } from '../logic/describe-state.js'
import { type RecentSpan, readSpan, spanLabels } from '../logic/filters.js'
import { formatDuration, formatStart, formatTime } from '../logic/format-time.js'
import type { ShownTime } from '../logic/time-range.js'
import { Icon } from '../parts/icon.js'
import { Screen } from '../parts/screen.js'
import { Select } from '../parts/select.js'
import { ReadState } from '../parts/states.js'
import { failuresOfOverview, useOverview } from '../parts/time-bars.js'
import { now, When } from '../parts/when.js'
import { useLive } from '../state/live.js'
import { updates, zone } from '../state/preferences.js'
import { workspace } from '../state/session.js'
import { useAttention, useOpenDecisions } from '../state/use-counts.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { readAgain } from '../state/use-query.js'
import { Charts } from './overview/charts.js'
import { Failures } from './overview/failures.js'
import { FirstSteps } from './overview/first-steps.js'
import { Health } from './overview/health.js'
import { NeedsAttention } from './overview/needs-attention.js'

/** Is anything wrong right now, since when, and what do I press? */
export function Overview() {
  const { query, set } = useFilters()
  const span = readSpan(query.last)
  const { from, to } = query
  // The charts show the whole span; what is chosen in them narrows the rest.
  const whole = useOverview({ last: span })
  const isNarrowed = from !== undefined || to !== undefined
  const chosen = useOverview({ last: span, from, to }, isNarrowed ? failuresOfOverview : {})
  const attention = useAttention({ pollMs: 30_000 })
  // A narrowed time takes a request more: they come later then, with the sidebar.
  const decisions = useOpenDecisions(!isNarrowed)
  const { data } = whole
  const part = chosen.data
  const isEmpty = data !== undefined && isWithout(data)
  useNews(whole.dataUpdatedAt)
  return (
    <Screen
      title="Overview"
      note={data && noteTime(whole.dataUpdatedAt)}
      actions={<Actions span={span} set={(last) => set({ last, from: '', to: '' })} />}
    >
      <ReadState {...whole} what="the last hours" rows={3} />
      {data && (
        <FirstSteps isEmpty={isEmpty} span={span}>
          {part && <Summary overview={part} needing={attention.data?.rules} time={timeOf(query, span)} />}
          <Charts overview={data} />
          {part && <Failures overview={part} time={timeOf(query, span)} />}
          <NeedsAttention overview={part ?? data} {...{ attention, decisions }} />
          <Health overview={data} />
        </FirstSteps>
      )}
    </Screen>
  )
}

/** The executions of a new event take a moment. */
const afterNewsMs = 1_500
/** A busy workspace is counted no more often. */
const betweenMs = 10_000

/** What new events led to is read soon after, for the first line and for the list under it. @param readAt epoch ms */
function useNews(readAt: number): void {
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useLive(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined
        // In this order no card of a rule comes and goes below.
        void readAgain('overview').then(() => readAgain('attention'))
      },
      Math.max(afterNewsMs, readAt + betweenMs - Date.now()),
    )
  })
  useEffect(() => () => clearTimeout(timer.current), [])
}

function timeOf({ from, to }: Record<string, string | undefined>, span: RecentSpan): ShownTime {
  return from === undefined && to === undefined ? { last: span } : { from, to }
}

function noteTime(readAt: number): string {
  const at = formatTime(new Date(readAt).toISOString(), zone.value, new Date())
  return `Updated ${at}${updates.value === 'off' ? ', paused' : ''}`
}

function isWithout({ totals }: Counts): boolean {
  return totals.events + totals.rejectedWebhooks + countExecutions(totals) === 0
}

function countExecutions({ succeeded, failed, cancelled, unfinished }: Counts['totals']): number {
  return succeeded + failed + cancelled + unfinished
}

function Actions({ span, set }: { span: RecentSpan; set: (span: RecentSpan) => void }) {
  return (
    <>
      <Select label="Time" isLabelHidden look="inline" value={span} options={spanLabels} set={set} />
      <button
        type="button"
        onClick={() => {
          updates.value = updates.value === 'on' ? 'off' : 'on'
        }}
      >
        {updates.value === 'on' ? 'Pause' : 'Resume'}
      </button>
    </>
  )
}

/** Is anything wrong, and how much came in and went well? */
function Summary({
  overview: { totals, countedFrom, from, failures },
  needing,
  time,
}: {
  overview: Counts
  /** undefined: not known. */
  needing: AttentionItem[] | undefined
  time: ShownTime
}) {
  const { events, succeeded, failed, unfinished, rejectedWebhooks, p95Ms } = totals
  const acknowledged = countAcknowledged(failures)
  const at = (iso: string) => formatStart(iso, zone.value, now.value)
  // Nothing runs in a suspended workspace: it is not well because nothing fails.
  const isUnknown = needing?.length === 0 && workspace.value?.suspendedAt
  const { tone, text, note } = describeState(totals, isUnknown ? undefined : needing, at, acknowledged)
  const figure = (count: number, word: string, href: string, tone = '') => (
    <a class={`figure ${count > 0 ? tone : ''}`} href={href}>
      <strong>{formatCount(count)}</strong> {word}
    </a>
  )
  const executions = (status: string) => linkTo('executions', { ...time, status })
  return (
    <>
      <p class={`verdict ${tone}`} role="status">
        {tone && <Icon name={tone === 'good' ? 'check' : 'warning'} />}
        {text}
        {note && <span class="quiet">{note}</span>}
      </p>
      <div class="figures">
        {figure(events, 'events accepted', linkTo('events', { ...time }))}
        {figure(succeeded, 'executions succeeded', executions('succeeded'))}
        {figure(failed, 'executions failed', executions('failed'), failed > acknowledged ? 'bad' : '')}
        {figure(unfinished, 'executions unfinished', executions('waiting,retrying,running'))}
        {figure(rejectedWebhooks, 'webhooks refused', linkTo('webhooks', { state: 'rejected' }), 'bad')}
        <a class="figure" href={executions('')}>
          <strong>{p95Ms === null ? '–' : formatDuration(p95Ms)}</strong> duration (p95)
        </a>
      </div>
      {countedFrom > from && (
        <p class="notice">
          Too many to count: the figures start at <When at={countedFrom} />.
        </p>
      )}
    </>
  )
}
