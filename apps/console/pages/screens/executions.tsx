import type { ExecutionSummary } from '@automation/client'
import { formatDuration, timeOfId } from '../logic/format-time.js'
import { writeRange } from '../logic/time-range.js'
import { CancelMany } from '../parts/cancel.js'
import { RuleFilter, TextFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { Mark } from '../parts/mark.js'
import { NoRows } from '../parts/no-rows.js'
import { RetryMany } from '../parts/retry.js'
import { Screen } from '../parts/screen.js'
import { Tabs } from '../parts/tabs.js'
import { barsOfExecutions, TimeBars } from '../parts/time-bars.js'
import { TimeFilter } from '../parts/time-filter.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useRuleNames } from '../state/use-rules.js'
import { ExecutionDetail } from './execution-detail.js'

const unfinished = 'waiting,retrying,running'
const statuses = {
  '': 'all',
  succeeded: 'succeeded',
  failed: 'failed',
  [unfinished]: 'not finished',
  cancelled: 'cancelled',
  suppressed: 'suppressed',
}

/** What ran, what failed, what waits, and what do I do about it? */
export function Executions() {
  const { query, set } = useFilters()
  const { status = '', rule = '', error = '', last, from, to, id } = query
  const narrowing = {
    ...(rule !== '' && { ruleId: rule }),
    ...(error !== '' && { error }),
  }
  const list = useList<ExecutionSummary>(
    ['executions', status, rule, error, last, from, to],
    async (cursor) => {
      const { executions, nextCursor = null } = await api().executions.list({
        ...writeRange(query),
        ...narrowing,
        limit: 50,
        ...(cursor !== undefined && { cursor }),
        ...(status !== '' && { status }),
      })
      return { rows: executions, nextCursor }
    },
    id,
  )
  const { rules, nameOf } = useRuleNames(list.rows.map(({ ruleId }) => ruleId))
  return (
    <Screen
      title="Executions"
      note="An execution is what one rule does for one event."
      // Also without rows: what came of it is still shown when none is left.
      actions={
        status === 'failed' ? (
          <RetryMany filter={{ ...writeRange(query), ...narrowing, status: ['failed'] }} />
        ) : (
          status === unfinished && <CancelMany filter={{ ...writeRange(query), ...narrowing }} />
        )
      }
    >
      <Tabs label="State" tabs={statuses} chosen={status} choose={(value) => set({ status: value })} />
      <search class="filters">
        <RuleFilter value={rule} set={(chosen) => set({ rule: chosen })} {...{ rules, nameOf }} />
        <TextFilter
          label="Error contains"
          value={error}
          placeholder=""
          set={(typed) => set({ error: typed })}
        />
        <TimeFilter query={query} usual="24h" set={set} />
      </search>
      <TimeBars
        screen="executions"
        query={query}
        filter={narrowing}
        pick={(overview) => barsOfExecutions(overview, status)}
      />
      <History
        list={list}
        what="executions"
        columns={['Rule', 'State', { text: 'Event', isLow: true }, 'Event accepted', { number: 'Duration' }]}
        selectedId={id}
        empty={
          <NoRows what="executions" filters={['status', 'rule', 'error', 'from', 'to']}>
            <p>
              A rule runs when an event matches its conditions. <a href={linkTo('rules')}>The rules</a> ·{' '}
              <a href={linkTo('events')}>the events</a>
            </p>
          </NoRows>
        }
        row={(execution) => (
          <>
            <th scope="row">
              <a href={linkTo('executions', { ...query, id: execution.id })}>{nameOf(execution.ruleId)}</a>
              {execution.error && <span class="sub">{execution.error}</span>}
            </th>
            <td data-label="State">
              <Mark of={execution.status} />
            </td>
            <td class="low">
              <code>{execution.eventType}</code>
            </td>
            <td data-label="Event accepted">
              <When at={new Date(timeOfId(execution.id)).toISOString()} />
            </td>
            <td class="number">{took(execution)}</td>
          </>
        )}
        detail={id && <ExecutionDetail id={id} key={id} nameOf={nameOf} close={() => set({ id: '' })} />}
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
  return waitsMs > 0 ? `continues in ${formatDuration(waitsMs)}` : '…'
}
