import type { Subscription, SubscriptionDelivery } from '@automation/client'
import { useState } from 'preact/hooks'
import { countOf } from '../../logic/count-words.js'
import { given } from '../../logic/filters.js'
import { Confirm } from '../../parts/confirm.js'
import { DetailHead } from '../../parts/detail-head.js'
import { Newer, Older } from '../../parts/list-controls.js'
import { Mark } from '../../parts/mark.js'
import { Opener } from '../../parts/opener.js'
import { RetryMany } from '../../parts/retry.js'
import { Alert, ReadState } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { linkToExecution } from '../../state/links.js'
import { api, may } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { linkTo } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'
import { describeError, readAgain } from '../../state/use-query.js'
import { SubscriptionForm } from './subscription-form.js'

interface Props {
  subscription: Subscription
  close: () => void
}

/** One subscription: what can be done with it, and whether its deliveries arrived. */
export function SubscriptionDetail({ subscription, close }: Props) {
  const { id, url, eventTypes, isActive } = subscription
  const [said, say] = useState('')
  return (
    <>
      <DetailHead title={new URL(url).host} what="the subscription" close={close} />
      <dl class="facts">
        <dt>URL</dt>
        <dd>{url}</dd>
        <dt>Events</dt>
        <dd>{eventTypes.join(', ')}</dd>
        <dt>Secrets</dt>
        <dd>
          <a href={linkTo('access', { tab: 'secrets' })}>under Access</a>
        </dd>
      </dl>
      <div class="row">
        <Opener label="Edit">
          <SubscriptionForm of={subscription} />
        </Opener>
        <button
          type="button"
          onClick={async () => {
            try {
              await api().developer.subscriptions.test(id)
              say('A ping is on its way.')
              await readAgain('deliveries')
            } catch (error) {
              say(describeError(error).title)
            }
          }}
        >
          Send a ping
        </button>
        <Confirm
          label="Delete"
          title={`Delete the subscription of ${url}`}
          reads="subscriptions"
          work={() => api().developer.subscriptions.delete(id)}
          after={close}
        >
          <p>Waiting deliveries are cancelled, and its secrets are revoked. This cannot be undone.</p>
        </Confirm>
        <span role="status">{said}</span>
      </div>
      {!isActive && <p class="notice">It is off. Events that happen while it is off are never delivered.</p>}
      <h3>Deliveries</h3>
      <Deliveries id={id} />
    </>
  )
}

function Deliveries({ id }: { id: string }) {
  const list = useList<SubscriptionDelivery>(['deliveries', id], async (cursor) => {
    const { data, nextCursor = null } = await api().developer.subscriptions.deliveries(id, {
      limit: 50,
      ...given({ cursor }),
    })
    return { rows: data, nextCursor }
  })
  return (
    <>
      <Newer {...list} what="deliveries" />
      <ReadState {...list.first} what="deliveries" />
      {list.first.data && list.rows.length === 0 && <p class="quiet">No deliveries yet.</p>}
      <ul class="verdicts">
        {list.rows.map((delivery) => (
          <li key={delivery.id}>
            <Mark of={delivery.status} /> <When at={delivery.createdAt} /> ·{' '}
            <a href={linkToExecution(delivery.id)}>{delivery.eventType}</a> ·{' '}
            {countOf(delivery.attempts, 'attempt')}
            {delivery.lastStatusCode !== null && <> · status {delivery.lastStatusCode}</>}
            {delivery.status === 'retrying' && delivery.dueAt !== null && (
              <>
                {' '}
                · next <When at={delivery.dueAt} />
              </>
            )}
            {delivery.error && <span class="sub bad">{delivery.error}</span>}
            <DeliverAgain delivery={delivery} />
          </li>
        ))}
      </ul>
      {list.rows.length > 0 && <Older {...list} />}
      {list.rows.some(({ status }) => status === 'failed') && (
        <RetryMany filter={{ subscriptionId: id, status: ['failed'] }} label="Retry all that failed…" />
      )}
    </>
  )
}

/** A failed one keeps its id, by which a receiver knows it; one that arrived comes as a new one. */
function DeliverAgain({ delivery: { id, status } }: { delivery: SubscriptionDelivery }) {
  const { change, problem, isBusy } = useChange('deliveries')
  const isRetry = status === 'failed' || status === 'cancelled'
  if ((!isRetry && status !== 'succeeded') || !may('operator')) return null
  return (
    <>
      {' '}
      <button
        type="button"
        class="small"
        aria-disabled={isBusy}
        onClick={() =>
          void change<unknown>(() => (isRetry ? api().executions.retry(id) : api().events.replay(id)))
        }
      >
        Deliver again
      </button>
      <Alert isSmall>{problem}</Alert>
    </>
  )
}
