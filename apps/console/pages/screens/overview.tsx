import type { AttentionItem, Overview as Counts } from '@automation/client'
import { useEffect, useState } from 'preact/hooks'
import { describeState } from '../logic/describe-state.js'
import { type RecentSpan, readSpan, spans } from '../logic/filters.js'
import { formatDuration, formatStart, formatTime } from '../logic/format-time.js'
import type { ShownTime } from '../logic/time-range.js'
import { Icon } from '../parts/icon.js'
import { Newer } from '../parts/list-controls.js'
import { Screen } from '../parts/screen.js'
import { Loading, Problem, Stale } from '../parts/states.js'
import { useOverview } from '../parts/time-bars.js'
import { now, When } from '../parts/when.js'
import { useLive } from '../state/live.js'
import { updates, zone } from '../state/preferences.js'
import { api } from '../state/session.js'
import { failuresOfOverview } from '../state/use-counts.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { readAgain, useQuery } from '../state/use-query.js'
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
  const whole = useOverview({ last: span }, failuresOfOverview)
  const chosen = useOverview({ last: span, from, to }, failuresOfOverview)
  const attention = useQuery({ key: ['attention'], read: () => api().rules.attention(), pollMs: 60_000 })
  const { data } = whole
  const part = chosen.data
  const isEmpty = data !== undefined && isWithout(data)
  const newer = useNewEvents(whole.dataUpdatedAt)
  return (
    <Screen
      title="Overview"
      note={data && noteTime(whole.dataUpdatedAt)}
      actions={<Actions span={span} set={(last) => set({ last, from: '', to: '' })} />}
    >
      {whole.isPending && <Loading what="the last hours" rows={3} />}
      {whole.error && !data && <Problem error={whole.error} retry={() => void whole.refetch()} />}
      {whole.error && data && <Stale error={whole.error} since={whole.dataUpdatedAt} />}
      {data && (
        <FirstSteps isEmpty={isEmpty} span={span}>
          <Newer newer={newer} what="events" showNewer={() => void readAgain()} />
          {part && <Summary overview={part} needing={attention.data?.rules} time={timeOf(query, span)} />}
          <Charts overview={data} />
          {part && <Failures overview={part} time={timeOf(query, span)} />}
          <NeedsAttention overview={part ?? data} attention={attention} />
          <Health overview={data} />
        </FirstSteps>
      )}
    </Screen>
  )
}

/** How many events came in since the counts were read: the figures stay as they are while somebody reads them. @param readAt epoch ms */
function useNewEvents(readAt: number): number {
  const [newer, setNewer] = useState(0)
  useLive((count) => setNewer((known) => known + count))
  useEffect(() => setNewer(0), [readAt])
  return newer
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
      <label class="inline">
        <span class="hidden">Time</span>
        <select value={span} onChange={({ currentTarget }) => set(currentTarget.value as RecentSpan)}>
          {Object.entries(spans).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
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
  const acknowledged = failures.reduce((sum, group) => sum + (group.acknowledgement ? group.count : 0), 0)
  const at = (iso: string) => formatStart(iso, zone.value, now.value)
  const { tone, text } = describeState(totals, needing, at, acknowledged)
  const figure = (count: number, word: string, href: string, tone = '') => (
    <a class={`figure ${count > 0 ? tone : ''}`} href={href}>
      <strong>{count.toLocaleString('en-US')}</strong> {word}
    </a>
  )
  const executions = (status: string) => linkTo('executions', { ...time, status })
  return (
    <>
      <p class={`verdict ${tone}`} role="status">
        {tone && <Icon name={tone === 'good' ? 'check' : 'warning'} />}
        {text}
      </p>
      <div class="figures">
        {figure(events, 'events accepted', linkTo('events', { ...time }))}
        {figure(succeeded, 'executions succeeded', executions('succeeded'))}
        {figure(failed, 'executions failed', executions('failed'), 'bad')}
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
