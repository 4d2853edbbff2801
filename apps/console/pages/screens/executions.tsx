import '../styles/history.css'
import type { ExecutionSummary } from '@automation/client'
import { given } from '../logic/filters.js'
import { timeOfId } from '../logic/format-time.js'
import { chooseTelling } from '../logic/history/choose-telling.js'
import { sayDuration, waitWords } from '../logic/history/say-duration.js'
import { writeRange } from '../logic/time-range.js'
import { CancelMany } from '../parts/cancel.js'
import { ChoiceFilter, RuleFilter, TextFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { Mark } from '../parts/mark.js'
import { NoRows } from '../parts/no-rows.js'
import { PickedBar } from '../parts/picked-bar.js'
import { ReplayMany } from '../parts/replay.js'
import { RetryMany } from '../parts/retry.js'
import { Screen } from '../parts/screen.js'
import { barsOfExecutions, TimeBars } from '../parts/time-bars.js'
import { TimeFilter } from '../parts/time-filter.js'
import { Told } from '../parts/told.js'
import { Views } from '../parts/views.js'
import { When } from '../parts/when.js'
import { api, may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { usePicked } from '../state/use-picked.js'
import { useRuleNames } from '../state/use-rules.js'
import { ExecutionDetail } from './execution-detail.js'

const unfinished = 'waiting,retrying,running'
const statuses = {
  succeeded: 'succeeded',
  failed: 'failed',
  [unfinished]: 'not finished',
  cancelled: 'cancelled',
  suppressed: 'suppressed',
}
const views = [
  { name: 'All executions', query: '' },
  { name: 'Failed in the last hour', query: 'last=1h&status=failed' },
  { name: 'Failed in the last 7 days', query: 'last=7d&status=failed' },
  { name: 'Waiting or retrying', query: 'last=30d&status=waiting%2Cretrying' },
]

/** What ran, what failed, what waits, and what do I do about it? */
export function Executions() {
  const { query, set } = useFilters()
  const { status = '', rule = '', error = '', last, from, to, id } = query
  const narrowing = given({ ruleId: rule, error })
  const key = ['executions', status, rule, error, last, from, to]
  const list = useList<ExecutionSummary>(
    key,
    async (cursor) => {
      const { executions, nextCursor = null } = await api().executions.list({
        ...writeRange(query),
        ...narrowing,
        limit: 50,
        excerpt: true,
        ...given({ cursor, status }),
      })
      return { rows: executions, nextCursor }
    },
    id,
  )
  const { rules, nameOf } = useRuleNames(list.rows.map(({ ruleId }) => ruleId))
  const picked = usePicked(JSON.stringify(key))
  const { clear } = picked
  const ids = [...picked.ids]
  const telling = chooseTelling(list.rows)
  const chosen = list.rows.filter((row) => picked.ids.has(row.id))
  return (
    <Screen
      title="Executions"
      // Also without rows: what came of it is still shown when none is left.
      actions={
        status === 'failed' ? (
          <RetryMany filter={{ ...writeRange(query), ...narrowing, status: ['failed'] }} />
        ) : (
          status === unfinished && (
            <CancelMany label="Cancel those that wait…" filter={{ ...writeRange(query), ...narrowing }} />
          )
        )
      }
    >
      <search class="filters">
        <Views screen="executions" given={views} />
        <ChoiceFilter
          label="State"
          value={status}
          options={statuses}
          set={(chosen) => set({ status: chosen })}
        />
        <RuleFilter value={rule} set={(chosen) => set({ rule: chosen })} {...{ rules, nameOf }} />
        <TextFilter
          label="Error contains"
          value={error}
          placeholder=""
          set={(typed) => set({ error: typed })}
        />
        <TimeFilter query={query} usual="24h" set={set} />
      </search>
      <div class="short-bars">
        <TimeBars
          screen="executions"
          query={query}
          filter={narrowing}
          pick={(overview) => barsOfExecutions(overview, status)}
        />
      </div>
      <PickedBar count={ids.length} one="execution" clear={clear}>
        <RetryMany label="Retry…" filter={{ ids }} clear={clear} />
        <ReplayMany ids={[...new Set(chosen.map(({ eventId }) => eventId))]} clear={clear} />
        <CancelMany label="Cancel…" filter={{ ids }} clear={clear} />
      </PickedBar>
      <History
        list={list}
        what="executions"
        columns={['Rule', 'State', 'Event or error', { number: 'Start to end' }, 'Event accepted']}
        selectedId={id}
        picked={may('bulk') ? picked : undefined}
        empty={
          <NoRows what="executions" filters={['status', 'rule', 'error', 'from', 'to']}>
            <p>
              An execution is what one rule does for one event that matches its conditions.{' '}
              <a href={linkTo('rules')}>The rules</a> · <a href={linkTo('events')}>the events</a>
            </p>
          </NoRows>
        }
        row={(execution) => (
          <ExecutionCells {...{ execution, query, nameOf, fields: telling.get(execution.eventType) }} />
        )}
        detail={id && <ExecutionDetail id={id} key={id} nameOf={nameOf} close={() => set({ id: '' })} />}
      />
    </Screen>
  )
}

function ExecutionCells({
  execution,
  query,
  nameOf,
  fields,
}: {
  execution: ExecutionSummary
  query: Record<string, string | undefined>
  nameOf: (ruleId: string) => string
  /** Of the data of its event: those that are told. */
  fields: readonly string[] | undefined
}) {
  const { id, ruleId, error, eventType, excerpt, status, waitsFor } = execution
  return (
    <>
      <th scope="row" class="short">
        <a href={linkTo('executions', { ...query, id })}>{nameOf(ruleId)}</a>
      </th>
      <td data-label="State" class="beside">
        <Mark of={status} word={waitsFor === null ? undefined : waitWords[waitsFor]} />
      </td>
      <td class="line">
        {!error && <code>{eventType}</code>} <Told excerpt={excerpt} fields={fields} />
        {error && <span class={status === 'cancelled' ? 'quiet' : 'bad'}> {error}</span>}
      </td>
      <td class="number">{sayDuration(execution, Date.now())}</td>
      <td data-label="Event accepted" class="at">
        <When at={new Date(timeOfId(id)).toISOString()} />
      </td>
    </>
  )
}
