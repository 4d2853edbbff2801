import type { Execution, ExecutionSummary } from '@automation/client'
import { readSpan, type Span, spans } from '../logic/filters.js'
import { formatDuration } from '../logic/format-time.js'
import { Attempts } from '../parts/attempts.js'
import { ExplainTree } from '../parts/explain-tree.js'
import { Newer, Older } from '../parts/list-controls.js'
import { Mark } from '../parts/mark.js'
import { Retry, RetryMany } from '../parts/retry.js'
import { Rows } from '../parts/rows.js'
import { Screen, Split } from '../parts/screen.js'
import { SpanSelect } from '../parts/span-select.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useQuery } from '../state/use-query.js'

const statuses = {
  '': 'all',
  succeeded: 'succeeded',
  failed: 'failed',
  'waiting,retrying,running': 'not finished',
  cancelled: 'cancelled',
}

/** What ran, what failed, what waits, and what do I do about it? */
export function Runs() {
  const { query, set } = useFilters()
  const { status = '', rule = '', error = '', id } = query
  const span = readSpan(query.last, '30d')
  const filter = {
    ...(rule !== '' && { ruleId: rule }),
    ...(error !== '' && { error }),
  }
  const list = useList<ExecutionSummary>(['runs', status, rule, error, span], async (cursor) => {
    const { executions, nextCursor = null } = await api().executions.list({
      ...filter,
      limit: 50,
      from: new Date(Date.now() - spans[span].ms).toISOString(),
      ...(cursor !== undefined && { cursor }),
      ...(status !== '' && { status }),
    })
    return { rows: executions, nextCursor }
  })
  const rules = useQuery({
    key: ['rules', 'names'],
    read: () => api().rules.list({ limit: 250 }),
    pollMs: false,
  })
  const names = new Map(rules.data?.rules.map((one) => [one.id, one.name]))
  const isFiltered = status !== '' || rule !== '' || error !== ''
  return (
    <Screen title="Runs" note="A run is the work of one rule for one event: an execution.">
      <div class="tabs" role="group" aria-label="State">
        {Object.entries(statuses).map(([value, label]) => (
          <button
            key={value}
            type="button"
            aria-pressed={status === value}
            onClick={() => set({ status: value })}
          >
            {label}
          </button>
        ))}
      </div>
      <div class="filters" role="search">
        <label>
          Rule
          <select
            data-filter
            value={rule}
            onChange={({ currentTarget }) => set({ rule: currentTarget.value })}
          >
            <option value="">any</option>
            {rules.data?.rules.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Error contains
          <input
            type="search"
            value={error}
            maxLength={200}
            onChange={({ currentTarget }) => set({ error: currentTarget.value })}
          />
        </label>
        <SpanSelect span={span} usual="30d" set={(last: Span) => set({ last })} />
      </div>
      <Newer {...list} />
      {list.first.isPending && <Loading what="runs" />}
      {list.first.error && <Problem error={list.first.error} retry={() => void list.first.refetch()} />}
      {status === 'failed' && list.rows.length > 0 && (
        <RetryMany
          filter={{
            ...filter,
            status: ['failed'],
            from: new Date(Date.now() - spans[span].ms).toISOString(),
          }}
        />
      )}
      <Split
        list={
          <>
            {list.first.data && list.rows.length === 0 && (
              <Empty title={isFiltered ? 'No run fits the filter' : 'No runs yet'}>
                {isFiltered ? (
                  <button type="button" onClick={() => set({ status: '', rule: '', error: '', last: '' })}>
                    Show all runs
                  </button>
                ) : (
                  <p>
                    A rule runs when an event fits its conditions. <a href={linkTo('rules')}>The rules</a> ·{' '}
                    <a href={linkTo('events')}>the events</a>
                  </p>
                )}
              </Empty>
            )}
            {list.rows.length > 0 && (
              <>
                <Rows
                  items={list.rows}
                  label="Runs"
                  columns={5}
                  selectedId={id}
                  head={
                    <>
                      <th scope="col">Rule</th>
                      <th scope="col">State</th>
                      <th scope="col">Event</th>
                      <th scope="col">Began</th>
                      <th scope="col" class="number">
                        Took
                      </th>
                    </>
                  }
                  row={(run) => (
                    <>
                      <th scope="row">
                        <a href={linkTo('runs', { ...query, id: run.id })}>
                          {names.get(run.ruleId) ?? 'a deleted rule'}
                        </a>
                        {run.error && <span class="sub">{run.error}</span>}
                      </th>
                      <td data-label="State">
                        <Mark of={run.status} />
                      </td>
                      <td data-label="Event">
                        <code>{run.eventType}</code>
                      </td>
                      <td data-label="Began">
                        <When at={run.startedAt} />
                      </td>
                      <td data-label="Took" class="number">
                        {took(run)}
                      </td>
                    </>
                  )}
                />
                <Older {...list} />
              </>
            )}
          </>
        }
        detail={id && <RunDetail id={id} key={id} names={names} close={() => set({ id: '' })} />}
      />
    </Screen>
  )
}

function took({
  startedAt,
  finishedAt,
  dueAt,
}: Pick<ExecutionSummary, 'startedAt' | 'finishedAt' | 'dueAt'>) {
  if (startedAt && finishedAt) return formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
  const waitsMs = dueAt ? Date.parse(dueAt) - Date.now() : 0
  return waitsMs > 0 ? `in ${formatDuration(waitsMs)}` : '…'
}

function RunDetail({ id, names, close }: { id: string; names: Map<string, string>; close: () => void }) {
  const run = useQuery<Execution>({
    key: ['run', id],
    read: () => api().executions.get(id, { explain: true }) as PromiseLike<Execution>,
    pollMs: 10_000,
  })
  if (run.isPending) return <Loading what="the run" />
  if (run.error && !run.data) return <Problem error={run.error} retry={() => void run.refetch()} />
  const { ruleId, ruleVersion, status, error, results, eventId, startedAt, trace } = run.data as Execution
  return (
    <>
      <div class="row spread">
        <h2>{names.get(ruleId) ?? 'A deleted rule'}</h2>
        <button type="button" class="plain" aria-label="Close the run" onClick={close}>
          ✕
        </button>
      </div>
      <p>
        <Mark of={status} /> · began <When at={startedAt} /> ·{' '}
        <a href={linkTo('events', { id: eventId })}>its event</a>
        {ruleVersion !== null && (
          <>
            {' '}
            ·{' '}
            <a href={linkTo(`rules/${ruleId}`, { tab: 'versions', version: String(ruleVersion) })}>
              the rule as it was (v{ruleVersion})
            </a>
          </>
        )}
      </p>
      {error && <p class="notice bad">{error}</p>}
      <Retry run={run.data as Execution} />
      <h3>What it did</h3>
      <Attempts results={results} />
      <h3>Why it ran</h3>
      {trace ? (
        <ExplainTree conditions={trace.conditions} />
      ) : (
        <p class="quiet">The rule was deleted, so nobody can say.</p>
      )}
      <p class="quiet id">{id}</p>
    </>
  )
}
