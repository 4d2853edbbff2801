import { Screen } from '../parts/screen.js'
import { Tabs } from '../parts/tabs.js'
import { useFilters } from '../state/use-filters.js'
import { Incoming } from './webhooks/incoming.js'
import { Outgoing } from './webhooks/outgoing.js'

/** Did it arrive, and if it was refused, what must the sender change? */
export function Webhooks() {
  const { query, set } = useFilters()
  return (
    <Screen title="Webhooks">
      <Tabs
        label="Direction"
        tabs={{ '': 'Incoming', out: 'Outgoing' }}
        chosen={query.way ?? ''}
        choose={(way) => set({ way, id: '' })}
      />
      {query.way === 'out' ? <Outgoing /> : <Incoming />}
    </Screen>
  )
}
