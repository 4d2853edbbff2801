import type { EventSummary, Vocabulary } from '@automation/client'
import { writeRange } from '../logic/time-range.js'
import { Chip } from '../parts/chip.js'
import { EventState } from '../parts/event-state.js'
import { ChoiceFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { NoRows } from '../parts/no-rows.js'
import { Screen } from '../parts/screen.js'
import { SendSample } from '../parts/send-sample.js'
import { Empty } from '../parts/states.js'
import { barsOfEvents, TimeBars } from '../parts/time-bars.js'
import { TimeFilter } from '../parts/time-filter.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { isRefused, useQuery } from '../state/use-query.js'
import { EventDetail } from './event-detail.js'

const states = { accepted: 'accepted', running: 'running', done: 'done', quarantined: 'quarantined' }

/** What came in, and what did the rules do with it? */
export function Events() {
  const { query, set } = useFilters()
  const { type = '', status = '', rule, from, to, last, id } = query
  const filter = {
    ...(type !== '' && { eventType: type }),
    ...(rule !== undefined && { ruleId: rule }),
  }
  const list = useList<EventSummary>(
    ['events', type, status, rule, last, from, to],
    async (cursor) => {
      const { events, nextCursor = null } = await api().events.list({
        limit: 50,
        ...writeRange(query),
        ...(cursor !== undefined && { cursor }),
        ...(status !== '' && { status: status as 'done' }),
        ...filter,
      })
      return { rows: events, nextCursor }
    },
    id,
  )
  return (
    <Screen title="Events" actions={list.rows.length > 0 && <SendSample {...(type !== '' && { type })} />}>
      <search class="filters">
        <TypeFilter type={type} isHidden={id !== undefined} set={(chosen) => set({ type: chosen })} />
        <ChoiceFilter
          label="State"
          value={status}
          options={states}
          set={(chosen) => set({ status: chosen })}
        />
        <TimeFilter query={query} usual="24h" set={set} />
        {rule !== undefined && (
          <Chip remove={{ label: 'Show all', run: () => set({ rule: '' }) }}>one rule</Chip>
        )}
      </search>
      <TimeBars
        screen="events"
        query={query}
        filter={{ ...filter, ...(status !== '' && { eventStatus: status as 'done' }) }}
        pick={barsOfEvents}
      />
      {type !== '' && isRefused(list.first.error) ? (
        <Empty title={`There is no event type ${type}`}>
          <button type="button" onClick={() => set({ type: '' })}>
            Show events of all types
          </button>
        </Empty>
      ) : (
        <History
          list={list}
          what="events"
          columns={['Accepted', 'Type', 'Rules', 'State']}
          selectedId={id}
          empty={
            <NoRows what="events" filters={['type', 'status', 'rule', 'from', 'to']}>
              <p>An event is data of one type. Every active rule for that type is evaluated.</p>
              <SendSample />
            </NoRows>
          }
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
              <td data-label="Rules">
                {event.matched - event.suppressed} of {event.triggered} ran
                {event.suppressed > 0 && `, ${event.suppressed} suppressed`}
                {event.failed > 0 && (
                  <>
                    , <span class="bad">{event.failed} failed</span>
                  </>
                )}
              </td>
              <td data-label="State">
                <EventState {...event} />
              </td>
            </>
          )}
          detail={id && <EventDetail id={id} key={id} close={() => set({ id: '' })} />}
        />
      )}
    </Screen>
  )
}

/** All types that there are, and not only those of the rows that happen to be loaded. */
function TypeFilter({
  type,
  isHidden,
  set,
}: {
  type: string
  /** A drawer lies beside it: the types are read once somebody may choose one. */
  isHidden: boolean
  set: (type: string) => void
}) {
  const { data } = useQuery<Vocabulary>({
    key: isHidden ? undefined : ['vocabulary'],
    read: () => api().vocabulary(),
    pollMs: false,
    staleMs: 60_000,
  })
  const options = Object.fromEntries(data?.eventTypes.map(({ type }) => [type, type]) ?? [])
  return <ChoiceFilter label="Type" value={type} isFirst {...{ options, set }} />
}
