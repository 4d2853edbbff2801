import '../styles/history.css'
import type { EventSummary, Vocabulary } from '@automation/client'
import { given } from '../logic/filters.js'
import { chooseTelling } from '../logic/history/choose-telling.js'
import { showControls } from '../logic/show.js'
import { Chip } from '../parts/chip.js'
import { DataSearch } from '../parts/data-search.js'
import { EventState } from '../parts/event-state.js'
import { ChoiceFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { NoRows } from '../parts/no-rows.js'
import { PickedBar } from '../parts/picked-bar.js'
import { ReplayMany } from '../parts/replay.js'
import { Screen } from '../parts/screen.js'
import { SendSample } from '../parts/send-sample.js'
import { Empty } from '../parts/states.js'
import { barsOfEvents, TimeBars } from '../parts/time-bars.js'
import { TimeFilter } from '../parts/time-filter.js'
import { Told } from '../parts/told.js'
import { Views } from '../parts/views.js'
import { When } from '../parts/when.js'
import { knownFields, listEvents } from '../state/list-events.js'
import { api, may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { usePicked } from '../state/use-picked.js'
import { isRefused, useQuery } from '../state/use-query.js'
import { useRuleNames } from '../state/use-rules.js'
import { EventDetail } from './event-detail.js'

const states = { accepted: 'accepted', running: 'running', done: 'done', quarantined: 'quarantined' }
const views = [
  { name: 'All events', query: '' },
  { name: 'In progress', query: 'status=running' },
  { name: 'Quarantined', query: 'status=quarantined' },
  { name: 'Last hour', query: 'last=1h' },
]

/** What came in, and what did the rules do with it? */
export function Events() {
  const { query, set } = useFilters()
  const { type = '', status = '', rule, from, to, last, q = '', id } = query
  const key = ['events', type, status, rule, last, from, to, q]
  // A search looks through 20,000 events.
  const isPolled = q === ''
  const list = useList<EventSummary>(key, (cursor) => listEvents({ query, cursor }), id, { isPolled })
  const picked = usePicked(JSON.stringify(key))
  const telling = chooseTelling(list.rows)
  const ruleIds = list.rows.flatMap((event) => ruleOfTick(event) ?? [])
  const { nameOf } = useRuleNames(ruleIds, ruleIds.length > 0)
  return (
    <Screen title="Events" actions={list.rows.length > 0 && <SendSample {...(type !== '' && { type })} />}>
      <search class="filters">
        <Views screen="events" given={views} />
        <DataSearch key={q} value={q} fields={knownFields()} set={(typed) => set({ q: typed })} />
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
      {q === '' && <EventBars query={query} />}
      <PickedBar count={picked.ids.size} one="event" clear={picked.clear}>
        <ReplayMany ids={[...picked.ids]} clear={picked.clear} />
      </PickedBar>
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
          columns={['Event', 'Rules', 'State', 'Accepted']}
          selectedId={id}
          picked={may('bulk') ? picked : undefined}
          empty={
            <NoRows what="events" filters={['type', 'status', 'rule', 'from', 'to', 'q']}>
              <p>An event is data of one type. Every active rule for that type is evaluated.</p>
              <SendSample />
            </NoRows>
          }
          row={(event) => <EventCells {...{ event, query, fields: telling.get(event.eventType), nameOf }} />}
          detail={id && <EventDetail id={id} key={id} close={() => set({ id: '' })} />}
        />
      )}
    </Screen>
  )
}

/** All ticks have the same data but for their time. */
function ruleOfTick({ type, ruleId }: EventSummary): string | undefined {
  return type === 'SCHEDULE' ? (ruleId ?? undefined) : undefined
}

function EventCells({
  event,
  query,
  fields,
  nameOf,
}: {
  event: EventSummary
  query: Record<string, string | undefined>
  /** Those of its data that are told. */
  fields: readonly string[] | undefined
  nameOf: (ruleId: string) => string
}) {
  const { matched, suppressed, triggered } = event
  const ruleId = ruleOfTick(event)
  return (
    <>
      <th scope="row">
        <a href={linkTo('events', { ...query, id: event.id })}>
          <code>{event.type}</code>
        </a>{' '}
        {ruleId && <span>{showControls(nameOf(ruleId))} </span>}
        <Told excerpt={event.excerpt} fields={fields} />
      </th>
      <td data-label="Rules">
        {matched - suppressed} of {triggered} ran
        {suppressed > 0 && `, ${suppressed} suppressed`}
      </td>
      <td data-label="State">
        <EventState {...event} />
      </td>
      <td data-label="Accepted" class="at">
        <When at={event.acceptedAt} />
      </td>
    </>
  )
}

/** Counts know nothing of the data: they are shown beside no search. */
function EventBars({ query }: { query: Record<string, string | undefined> }) {
  const { type = '', status = '', rule } = query
  const filter = given({ eventType: type, ruleId: rule, eventStatus: status as 'done' })
  return (
    <div class="short-bars">
      <TimeBars screen="events" query={query} filter={filter} pick={barsOfEvents} />
    </div>
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
