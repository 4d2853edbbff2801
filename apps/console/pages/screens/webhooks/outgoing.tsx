import type { Subscription } from '@automation/client'
import { AdminList } from '../../parts/admin-list.js'
import { Mark } from '../../parts/mark.js'
import { Split } from '../../parts/screen.js'
import { NoPermission } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { rowsOf, useQuery } from '../../state/use-query.js'
import { SubscriptionDetail } from './subscription-detail.js'
import { SubscriptionForm } from './subscription-form.js'

/** The URLs that hear of what happens here, and what was delivered to each. */
export function Outgoing() {
  const { query, set } = useFilters()
  // The list below reads it, and this shares what it has read.
  const { data } = useQuery<readonly Subscription[]>({
    key: may('admin') ? rowsOf('subscriptions') : undefined,
    read: listSubscriptions,
    pollMs: false,
  })
  const selected = data?.find(({ id }) => id === query.id)
  if (!may('admin'))
    return <NoPermission>Subscriptions and their deliveries are for admins of the workspace.</NoPermission>
  return (
    <Split
      list={
        <AdminList
          queryKey="subscriptions"
          what="subscriptions"
          read={listSubscriptions}
          columns={['URL', 'Events', { text: 'Last delivery', isLow: true }, 'State']}
          selectedId={query.id}
          empty={{
            title: 'No subscriptions',
            text: 'A subscription sends events such as failed executions, or rules that were switched off, to a URL of yours.',
          }}
          add={{ label: 'New subscription', form: <SubscriptionForm /> }}
          row={({ id, url, description, eventTypes, isActive }) => (
            <>
              <th scope="row">
                <a href={linkTo('webhooks', { ...query, id })}>{url}</a>
                {description && <span class="sub">{description}</span>}
              </th>
              <td data-label="Events">{eventTypes.join(', ')}</td>
              <td class="low">
                <LastDelivery id={id} />
              </td>
              <td data-label="State">
                <Mark of={isActive ? 'active' : 'skipped'} word={isActive ? 'on' : 'off'} />
              </td>
            </>
          )}
        />
      }
      detail={
        selected && (
          <SubscriptionDetail key={selected.id} subscription={selected} close={() => set({ id: '' })} />
        )
      }
    />
  )
}

/** Whether it arrives there at all. */
function LastDelivery({ id }: { id: string }) {
  const { data } = useQuery({
    key: ['deliveries', id, 'last'],
    read: () => api().developer.subscriptions.deliveries(id, { limit: 1 }),
    pollMs: false,
    staleMs: 60_000,
  })
  const [last] = data?.data ?? []
  if (data === undefined) return null
  if (last === undefined) return <span class="quiet">none</span>
  return (
    <span title={last.error ?? ''}>
      <Mark of={last.status} /> <When at={last.createdAt} />
      {last.lastStatusCode !== null && <span class="quiet"> {last.lastStatusCode}</span>}
    </span>
  )
}

async function listSubscriptions(): Promise<readonly Subscription[]> {
  return (await api().developer.subscriptions.list()).data
}
