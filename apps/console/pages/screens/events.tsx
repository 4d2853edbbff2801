import type { EventSummary } from '@automation/client'
import { type RecentSpan, readSpan, spans } from '../logic/filters.js'
import { History } from '../parts/history.js'
import { Mark } from '../parts/mark.js'
import { Screen } from '../parts/screen.js'
import { SendSample } from '../parts/send-sample.js'
import { SpanSelect } from '../parts/span-select.js'
import { Empty } from '../parts/states.js'
import { TimeBars } from '../parts/time-bars.js'
import { Until } from '../parts/until.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { EventDetail } from './event-detail.js'

const states = ['accepted', 'running', 'done', 'quarantined'] as const

/** What came in, and what did the rules do with it? */
export function Events() {
  const { query, set } = useFilters()
  const { type = '', status = '', rule, to, id } = query
  const span = readSpan(query.last, '24h')
  const list = useList<EventSummary>(['events', type, status, rule, span, to], async (cursor) => {
    const { events, nextCursor = null } = await api().events.list({
      limit: 50,
      ...(to === undefined ? { from: new Date(Date.now() - spans[span].ms).toISOString() } : { to }),
      ...(cursor !== undefined && { cursor }),
      ...(type !== '' && { eventType: type }),
      ...(status !== '' && { status: status as 'done' }),
      ...(rule !== undefined && { ruleId: rule }),
    })
    return { rows: events, nextCursor }
  })
  const isFiltered = type !== '' || status !== '' || rule !== undefined || to !== undefined
  return (
    <Screen title="Events" actions={list.rows.length > 0 && <SendSample />}>
      <search class="filters">
        <label>
          Type
          <input
            data-filter
            list="types"
            value={type}
            placeholder="any"
            onChange={({ currentTarget }) => set({ type: currentTarget.value.trim() })}
          />
          <datalist id="types">
            {[...new Set(list.rows.map((row) => row.type))].map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </label>
        <label>
          State
          <select value={status} onChange={({ currentTarget }) => set({ status: currentTarget.value })}>
            <option value="">any</option>
            {states.map((state) => (
              <option key={state}>{state}</option>
            ))}
          </select>
        </label>
        <SpanSelect span={span} usual="24h" set={(last: RecentSpan) => set({ last, to: '' })} />
        <Until to={to} set={(until) => set({ to: until })} />
        {rule !== undefined && (
          <button type="button" class="chip" onClick={() => set({ rule: '' })}>
            one rule <span aria-hidden="true">✕</span>
            <span class="hidden">: show all</span>
          </button>
        )}
      </search>
      <TimeBars screen="events" span={span} query={query} />
      <History
        list={list}
        what="events"
        columns={['Accepted', 'Type', { number: 'Rules evaluated' }, 'State']}
        selectedId={id}
        empty={<NoEvents {...{ isFiltered, span, set }} />}
        row={(event) => (
          <>
            <th scope="row">
              <a href={linkTo('events', { ...query, id: event.id })}>
                <When at={event.acceptedAt} />
              </a>
            </th>
            <td data-label="Type">
              <code>{event.type}</code>
            </td>
            <td data-label="Rules evaluated" class="number">
              {event.triggered}
            </td>
            <td data-label="State">
              <Mark of={event.status} />
            </td>
          </>
        )}
        detail={id && <EventDetail id={id} key={id} close={() => set({ id: '' })} />}
      />
    </Screen>
  )
}

/** Nothing fits the filter, nothing came in this time, or nothing came at all: each has its own way out. */
function NoEvents({
  isFiltered,
  span,
  set,
}: {
  isFiltered: boolean
  span: RecentSpan
  set: (changes: Record<string, string>) => void
}) {
  if (isFiltered)
    return (
      <Empty title="No events match the filter">
        <button type="button" onClick={() => set({ type: '', status: '', rule: '', to: '' })}>
          Show all events
        </button>
      </Empty>
    )
  return (
    <Empty title={`No events in the ${spans[span].label.toLowerCase()}`}>
      <p>An event is data of one type. Every active rule for that type is evaluated.</p>
      <div class="row">
        <SendSample />
        {span !== '30d' && (
          <button type="button" onClick={() => set({ last: '30d' })}>
            Show the last 30 days
          </button>
        )}
      </div>
    </Empty>
  )
}
