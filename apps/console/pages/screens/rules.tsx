import { later } from '../parts/later.js'
import { Screen } from '../parts/screen.js'
import { Tabs } from '../parts/tabs.js'
import { may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { Findings } from './rules/findings.js'
import { RuleList } from './rules/rule-list.js'
import { Templates } from './rules/templates.js'

const Schedules = later('the schedules', () =>
  import('./rules/schedules.js').then(({ Schedules }) => Schedules),
)
const EventTypes = later('the event types', () =>
  import('./rules/event-types.js').then(({ EventTypes }) => EventTypes),
)
const GroupOrder = later('the group', () =>
  import('./rules/group-order.js').then(({ GroupOrder }) => GroupOrder),
)

const tabs = {
  '': 'Rules',
  schedules: 'Schedules',
  findings: 'Findings',
  ...(!inFrame && { types: 'Event types', templates: 'Email templates' }),
}

/** Which rules are there, how are they doing, do they get in each other's way? */
export function Rules() {
  const { query, set } = useFilters()
  const { tab = '', group } = query
  return (
    <Screen
      title="Rules"
      actions={
        may('create') &&
        tab === '' && (
          <a class="button primary" href={linkTo('rules/new')}>
            New rule
          </a>
        )
      }
    >
      <Tabs
        label="Parts"
        tabs={tabs}
        chosen={tab}
        choose={(next) => set({ tab: next, id: '', q: '', state: '', trigger: '', group: '' })}
      />
      {tab === 'findings' ? (
        <Findings />
      ) : tab === 'schedules' ? (
        <Schedules />
      ) : tab === 'types' ? (
        <EventTypes />
      ) : tab === 'templates' ? (
        <Templates />
      ) : group ? (
        <GroupOrder name={group} key={group} />
      ) : (
        <RuleList />
      )}
    </Screen>
  )
}
