import type { Event, EventSummary } from '@automation/client'
import { useState } from 'preact/hooks'
import { readSpan, type Span, spans } from '../logic/filters.js'
import { JsonView } from '../parts/json-view.js'
import { Newer, Older } from '../parts/list-controls.js'
import { Mark } from '../parts/mark.js'
import { Rows } from '../parts/rows.js'
import { Screen, Split } from '../parts/screen.js'
import { SendSample } from '../parts/send-sample.js'
import { SpanSelect } from '../parts/span-select.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { When } from '../parts/when.js'
import { api, may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'

/** What came in, and what did the rules do with it? */
export function Events() {
  const { query, set } = useFilters()
  const { type = '', status = '', rule, id } = query
  const span = readSpan(query.last, '30d')
  const list = useList<EventSummary>(['events', type, status, rule, span], async (cursor) => {
    const { events, nextCursor = null } = await api().events.list({
      limit: 50,
      from: new Date(Date.now() - spans[span].ms).toISOString(),
      ...(cursor !== undefined && { cursor }),
      ...(type !== '' && { type }),
      ...(status !== '' && { status: status as 'done' }),
      ...(rule !== undefined && { ruleId: rule }),
    })
    return { rows: events, nextCursor }
  })
  const isFiltered = type !== '' || status !== '' || rule !== undefined
  const clear = () => set({ type: '', status: '', rule: '', last: '' })
  return (
    <Screen title="Events" actions={list.rows.length > 0 && <SendSample />}>
      <div class="filters" role="search">
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
            <option value="accepted">accepted</option>
            <option value="running">running</option>
            <option value="done">done</option>
            <option value="quarantined">quarantined</option>
          </select>
        </label>
        <SpanSelect span={span} usual="30d" set={(last: Span) => set({ last })} />
        {rule !== undefined && (
          <button type="button" class="chip" onClick={() => set({ rule: '' })}>
            one rule ✕
          </button>
        )}
      </div>
      <Newer {...list} />
      {list.first.isPending && <Loading what="events" />}
      {list.first.error && <Problem error={list.first.error} retry={() => void list.first.refetch()} />}
      <Split
        list={
          <>
            {list.first.data && list.rows.length === 0 && (
              <Empty title={isFiltered ? 'No event fits the filter' : 'No events yet'}>
                {isFiltered ? (
                  <button type="button" onClick={clear}>
                    Show all events
                  </button>
                ) : (
                  <>
                    <p>An event is data of one type. Every active rule of that type looks at it.</p>
                    <SendSample />
                  </>
                )}
              </Empty>
            )}
            {list.rows.length > 0 && (
              <>
                <Rows
                  items={list.rows}
                  label="Events"
                  columns={4}
                  selectedId={id}
                  head={
                    <>
                      <th scope="col">Came in</th>
                      <th scope="col">Type</th>
                      <th scope="col" class="number">
                        Rules that looked
                      </th>
                      <th scope="col">State</th>
                    </>
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
                      <td data-label="Rules that looked" class="number">
                        {event.triggered}
                      </td>
                      <td data-label="State">
                        <Mark of={event.status} />
                      </td>
                    </>
                  )}
                />
                <Older {...list} />
              </>
            )}
          </>
        }
        detail={id && <EventDetail id={id} key={id} close={() => set({ id: '' })} />}
      />
    </Screen>
  )
}

function EventDetail({ id, close }: { id: string; close: () => void }) {
  const event = useQuery<Event>({ key: ['event', id], read: () => api().events.get(id), pollMs: 10_000 })
  const rules = useQuery({
    key: ['rules', 'names'],
    read: () => api().rules.list({ limit: 250 }),
    pollMs: false,
  })
  const names = new Map(rules.data?.rules.map((rule) => [rule.id, rule.name]))
  if (event.isPending) return <Loading what="the event" />
  if (event.error && !event.data) return <Problem error={event.error} retry={() => void event.refetch()} />
  const { type, acceptedAt, data, results = [], status, causedBy, replayOf, triggered } = event.data as Event
  const ran = results.filter(({ conditionsPassed }) => conditionsPassed)
  return (
    <>
      <div class="row spread">
        <h2>{type}</h2>
        <button type="button" class="plain" aria-label="Close the event" onClick={close}>
          ✕
        </button>
      </div>
      <p>
        <Mark of={status} /> · came in <When at={acceptedAt} />
        {causedBy && (
          <>
            {' '}
            · <a href={linkTo('runs', { id: causedBy })}>emitted by a run</a>
          </>
        )}
        {replayOf && (
          <>
            {' '}
            · <a href={linkTo('events', { id: replayOf })}>a replay</a>
          </>
        )}
      </p>
      <p class="quiet id">{id}</p>
      <h3>What the rules did</h3>
      {triggered === 0 && status === 'done' && (
        <p>
          No rule looked at it: no active rule runs on <code>{type}</code>.{' '}
          {may('editor') && <a href={linkTo('rules/new', { trigger: type })}>Write one</a>}
        </p>
      )}
      {triggered > 0 && (
        <p>
          {ran.length} of {triggered} ran.
        </p>
      )}
      <ul class="plain-list">
        {results.map((result) => (
          <li key={result.ruleId}>
            <Mark of={result.conditionsPassed ? result.status : 'not_matched'} />{' '}
            <a href={linkTo(`rules/${result.ruleId}`)}>{names.get(result.ruleId) ?? 'a rule'}</a>
            {result.executionId && (
              <>
                {' '}
                · <a href={linkTo('runs', { id: result.executionId })}>its run</a>
              </>
            )}
            {!result.conditionsPassed && (
              <>
                {' '}
                · <a href={linkTo(`rules/${result.ruleId}`, { event: id })}>what stopped it</a>
              </>
            )}
          </li>
        ))}
      </ul>
      <h3>Data</h3>
      <JsonView value={data} label="Data of the event" />
      {may('operator') && <Replay id={id} />}
    </>
  )
}

function Replay({ id }: { id: string }) {
  const { set } = useFilters()
  const [said, say] = useState<string>()
  return (
    <div class="row">
      <button
        type="button"
        onClick={async () => {
          try {
            const run = await api().events.replay(id)
            await readAgain('events')
            set({ id: run.id })
            say('Replayed.')
          } catch (error) {
            say(describeError(error).title)
          }
        }}
      >
        Replay with today’s rules
      </button>
      <span role="status">{said}</span>
    </div>
  )
}
