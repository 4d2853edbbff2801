import '../styles/history.css'
import type { Decision } from '@automation/client'
import { given } from '../logic/filters.js'
import { timeOfId } from '../logic/format-time.js'
import { chooseTelling } from '../logic/history/choose-telling.js'
import { nameActor } from '../logic/name-actor.js'
import { nameOption } from '../logic/name-option.js'
import { Countdown } from '../parts/countdown.js'
import { RuleFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { Mark } from '../parts/mark.js'
import { Screen } from '../parts/screen.js'
import { Empty } from '../parts/states.js'
import { Tabs } from '../parts/tabs.js'
import { Told } from '../parts/told.js'
import { When } from '../parts/when.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useQuery } from '../state/use-query.js'
import { useRuleNames } from '../state/use-rules.js'
import { DecisionDetail } from './decision-detail.js'

const statuses = { '': 'Open', decided: 'Decided', expired: 'Expired', closed: 'No longer needed' }

/** What do executions wait for people to decide, and who decided what? */
export function Decisions() {
  const { query, set } = useFilters()
  const { status = '', rule = '', id } = query
  const list = useList<Decision>(
    ['decisions', status, rule],
    async (cursor) => {
      const { decisions, nextCursor = null } = await api().decisions.list({
        limit: 50,
        excerpt: true,
        status: status || 'open',
        ...given({ ruleId: rule, cursor }),
      })
      return { rows: decisions, nextCursor }
    },
    id,
  )
  const { rules, areKnown, nameOf } = useRuleNames(list.rows.map(({ ruleId }) => ruleId))
  // The name in its version is there with the row: another one that comes later would move it.
  const nameRule = ({ ruleId, ruleName }: Decision) =>
    areKnown ? nameOf(ruleId) : (ruleName ?? nameOf(ruleId))
  const telling = chooseTelling(list.rows.map(({ ruleId, excerpt }) => ({ eventType: ruleId, excerpt })))
  const listed = list.rows.find((row) => row.id === id)
  // A link leads to one that may stand on a later page, or have been decided since.
  const { data: linked } = useQuery({
    key: ['decisions', 'of', id],
    read: () => api().decisions.list({ executionId: id ?? '', limit: 1, excerpt: true }),
    isRead: id !== undefined && list.first.data !== undefined && listed === undefined,
  })
  const selected = listed ?? (id ? linked?.decisions[0] : undefined)
  return (
    <Screen title="Decisions" note="What a rule asks a person before it goes on.">
      <Tabs label="State" tabs={statuses} chosen={status} choose={(next) => set({ status: next, id: '' })} />
      <search class="filters">
        <RuleFilter value={rule} set={(chosen) => set({ rule: chosen })} {...{ rules, nameOf }} />
      </search>
      <History
        list={list}
        what="decisions"
        columns={[
          'Rule',
          status === '' ? 'Choices' : 'Choice',
          'Event',
          status === '' ? 'Due' : 'By',
          { text: 'Since', isLow: true },
        ]}
        selectedId={id}
        empty={<NoDecisions isOpen={status === ''} />}
        row={(decision) => (
          <>
            <th scope="row" class="short">
              <a href={linkTo('decisions', { ...query, id: decision.id })}>{nameRule(decision)}</a>
            </th>
            <td class="beside">
              <Choice decision={decision} />
            </td>
            <td class="line">
              <Told excerpt={decision.excerpt} fields={telling.get(decision.ruleId)} />
            </td>
            <td class="at">
              {decision.status === 'open' ? (
                <Countdown until={decision.until} />
              ) : (
                decision.by && nameActor(decision.by)
              )}
            </td>
            <td class="at low">
              <When at={decision.decidedAt ?? new Date(timeOfId(decision.id)).toISOString()} />
            </td>
          </>
        )}
        detail={
          selected && (
            <DecisionDetail
              key={selected.id}
              decision={selected}
              name={nameRule(selected)}
              close={() => set({ id: '' })}
            />
          )
        }
      />
    </Screen>
  )
}

function Choice({ decision: { status, options, choice } }: { decision: Decision }) {
  if (status === 'open') return <>{options.map(nameOption).join(' or ')}</>
  return (
    <Mark
      of={status === 'decided' ? 'done' : 'skipped'}
      word={choice === null ? statuses[status].toLowerCase() : nameOption(choice)}
    />
  )
}

function NoDecisions({ isOpen }: { isOpen: boolean }) {
  return isOpen ? (
    <Empty title="Nothing to decide">
      <p>
        A WAIT with a decision asks a person, such as whether a large order is approved. What waits for an
        answer is listed here. <a href={linkTo('rules')}>The rules</a>
      </p>
    </Empty>
  ) : (
    <Empty title="No such decisions">
      <p>Decisions that were taken, and those whose time is over, are listed by their state.</p>
    </Empty>
  )
}
