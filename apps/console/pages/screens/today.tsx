import type { Overview } from '@automation/client'
import { useLocation } from 'preact-iso'
import { describeState } from '../logic/describe-state.js'
import { type RecentSpan, readSpan, spans } from '../logic/filters.js'
import { formatTime } from '../logic/format-time.js'
import { Bars } from '../parts/bars.js'
import { Icon } from '../parts/icon.js'
import { Screen } from '../parts/screen.js'
import { Empty, Loading, Problem, Stale } from '../parts/states.js'
import { barsOfExecutions, findTime, useOverview } from '../parts/time-bars.js'
import { When } from '../parts/when.js'
import { updates, zone } from '../state/preferences.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'
import { FirstSteps } from './today/first-steps.js'
import { NeedsAttention } from './today/needs-attention.js'

/** Is anything wrong right now, since when, and what do I press? */
export function Today() {
  const { query, set } = useFilters()
  const span = readSpan(query.last)
  const overview = useOverview({ last: span })
  const attention = useQuery({ key: ['attention'], read: () => api().rules.attention(), pollMs: 60_000 })
  const { route } = useLocation()
  const { data } = overview
  const hrefOf = (first: number, last: number) =>
    data ? linkTo('executions', findTime(data, first, last)) : ''
  const isEmpty =
    data !== undefined && data.totals.events + data.totals.rejectedWebhooks === 0 && sumExecutions(data) === 0
  const readAt = formatTime(new Date(overview.dataUpdatedAt).toISOString(), zone.value, new Date())
  return (
    <Screen
      title="Today"
      note={overview.data && `Updated ${readAt}${updates.value === 'off' ? ', paused' : ''}`}
      actions={
        <>
          <label class="inline">
            <span class="hidden">Time</span>
            <select
              value={span}
              onChange={({ currentTarget }) => set({ last: currentTarget.value as RecentSpan })}
            >
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
      }
    >
      {overview.isPending && <Loading what="the last hours" rows={3} />}
      {overview.error && !data && <Problem error={overview.error} retry={() => void overview.refetch()} />}
      {overview.error && data && <Stale error={overview.error} since={overview.dataUpdatedAt} />}
      {data && !isEmpty && <Summary overview={data} needing={attention.data?.rules.length} span={span} />}
      {isEmpty && (
        <FirstSteps
          otherwise={
            <Empty title={`No events in the ${spans[span].label.toLowerCase()}`}>
              <p>Your programs send events through the API or as signed webhooks.</p>
            </Empty>
          }
        />
      )}
      {data && !isEmpty && (
        <Bars
          {...barsOfExecutions(data)}
          label={`Executions, ${spans[span].label.toLowerCase()}`}
          hrefOf={hrefOf}
          open={(href) => route(href)}
        />
      )}
      {data && (!isEmpty || (attention.data?.rules.length ?? 0) > 0) && (
        <NeedsAttention totals={data.totals} attention={attention} span={span} />
      )}
    </Screen>
  )
}

function sumExecutions({ totals: { succeeded, failed, cancelled, unfinished } }: Overview): number {
  return succeeded + failed + cancelled + unfinished
}

/** Is anything wrong, and how much came in and went well? */
function Summary({
  overview,
  needing,
  span,
}: {
  overview: Overview
  /** Rules; undefined: not known. */
  needing: number | undefined
  span: RecentSpan
}) {
  const { events, succeeded, failed, unfinished, rejectedWebhooks } = overview.totals
  const { tone, text } = describeState(overview.totals, needing)
  const isWhole = overview.countedFrom <= overview.from
  const figure = (count: number, word: string, href: string, tone = '') => (
    <a class={`figure ${count > 0 ? tone : ''}`} href={href}>
      <strong>{count.toLocaleString('en-US')}</strong> {word}
    </a>
  )
  return (
    <>
      <p class={`verdict ${tone}`} role="status">
        {tone && <Icon name={tone === 'good' ? 'check' : 'warning'} />}
        {text}
      </p>
      <div class="figures">
        {figure(events, 'events accepted', linkTo('events', { last: span }))}
        {figure(succeeded, 'executions succeeded', linkTo('executions', { last: span, status: 'succeeded' }))}
        {figure(failed, 'executions failed', linkTo('executions', { last: span, status: 'failed' }), 'bad')}
        {figure(
          unfinished,
          'executions unfinished',
          linkTo('executions', { last: span, status: 'waiting,retrying,running' }),
        )}
        {figure(rejectedWebhooks, 'webhooks refused', linkTo('webhooks', { state: 'rejected' }), 'bad')}
      </div>
      {!isWhole && (
        <p class="notice">
          Too many to count: the figures start at <When at={overview.countedFrom} />.
        </p>
      )}
    </>
  )
}
