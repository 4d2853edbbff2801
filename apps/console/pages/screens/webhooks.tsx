import type { Receipt, Subscription, SubscriptionDelivery } from '@automation/client'
import { CopyButton } from '../parts/json-view.js'
import { Newer, Older } from '../parts/list-controls.js'
import { Mark } from '../parts/mark.js'
import { Rows } from '../parts/rows.js'
import { Screen, Split } from '../parts/screen.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { When } from '../parts/when.js'
import { api, may, workspaceId } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useQuery } from '../state/use-query.js'

/** Did it arrive, and if it was refused, what must the sender change? */
export function Webhooks() {
  const { query, set } = useFilters()
  const isOut = query.way === 'out'
  return (
    <Screen title="Webhooks">
      <div class="tabs" role="group" aria-label="Direction">
        <button type="button" aria-pressed={!isOut} onClick={() => set({ way: '', id: '' })}>
          Coming in
        </button>
        <button type="button" aria-pressed={isOut} onClick={() => set({ way: 'out', id: '' })}>
          Going out
        </button>
      </div>
      {isOut ? <Outgoing /> : <Incoming />}
    </Screen>
  )
}

function Incoming() {
  const { query, set } = useFilters()
  const { state = '', provider = '', id } = query
  const list = useList<Receipt>(['receipts', state, provider], async (cursor) => {
    const { data, nextCursor = null } = await api().developer.receipts.list({
      limit: 50,
      ...(cursor !== undefined && { cursor }),
      ...(state === 'rejected' && { state }),
      ...(provider !== '' && { provider }),
    })
    return { rows: data, nextCursor }
  })
  const selected = list.rows.find((row) => row.id === id)
  return (
    <>
      <div class="filters" role="search">
        <label>
          State
          <select
            data-filter
            value={state}
            onChange={({ currentTarget }) => set({ state: currentTarget.value, id: '' })}
          >
            <option value="">accepted</option>
            <option value="rejected">refused</option>
          </select>
        </label>
        <label>
          Provider
          <input
            type="search"
            value={provider}
            placeholder="any"
            onChange={({ currentTarget }) => set({ provider: currentTarget.value.trim(), id: '' })}
          />
        </label>
      </div>
      <Newer {...list} />
      {list.first.isPending && <Loading what="webhooks" />}
      {list.first.error && <Problem error={list.first.error} retry={() => void list.first.refetch()} />}
      <Split
        list={
          <>
            {list.first.data && list.rows.length === 0 && (
              <Empty title={state === 'rejected' ? 'No webhook was refused' : 'No webhooks yet'}>
                {state === 'rejected' ? (
                  <p>Refused webhooks stand here with what the sender has to change.</p>
                ) : (
                  <p>
                    A provider posts signed JSON to <code>{address('<provider>')}</code>. Each provider has a
                    secret, under <a href={linkTo('access', { tab: 'secrets' })}>Access</a>. Try it:{' '}
                    <code>npm run webhook -- send</code>
                  </p>
                )}
              </Empty>
            )}
            {list.rows.length > 0 && (
              <>
                <Rows
                  items={list.rows}
                  label="Webhooks that came in"
                  columns={4}
                  selectedId={id}
                  head={
                    <>
                      <th scope="col">Arrived</th>
                      <th scope="col">Provider</th>
                      <th scope="col">State</th>
                      <th scope="col">Became</th>
                    </>
                  }
                  row={(receipt) => (
                    <>
                      <th scope="row">
                        <a href={linkTo('webhooks', { ...query, id: receipt.id })}>
                          <When at={receipt.receivedAt} />
                        </a>
                      </th>
                      <td data-label="Provider">{receipt.provider}</td>
                      <td data-label="State">
                        <Mark of={receipt.receiptState} />
                        {receipt.reason && <span class="sub">{receipt.reason}</span>}
                      </td>
                      <td data-label="Became">{receipt.eventTypes.join(', ') || '–'}</td>
                    </>
                  )}
                />
                <Older {...list} />
              </>
            )}
          </>
        }
        detail={selected && <Doctor receipt={selected} close={() => set({ id: '' })} />}
      />
    </>
  )
}

function address(provider: string): string {
  return `/api/incoming-webhooks/${provider}/${workspaceId.value}`
}

/** What nearly fits, and what the sender does differently. */
function Doctor({ receipt, close }: { receipt: Receipt; close: () => void }) {
  const { receiptState, reason, findings, provider, idempotencyKey, eventIds = [], id, verified } = receipt
  return (
    <>
      <div class="row spread">
        <h2>{provider}</h2>
        <button type="button" class="plain" aria-label="Close the webhook" onClick={close}>
          ✕
        </button>
      </div>
      <p>
        <Mark of={receiptState} /> · <When at={receipt.receivedAt} />
      </p>
      <dl class="facts">
        <dt>Idempotency key</dt>
        <dd>{idempotencyKey ?? 'missing'}</dd>
        <dt>Signature</dt>
        <dd>{verified ? 'correct' : 'not correct'}</dd>
        <dt>Address</dt>
        <dd>
          <code>{address(provider)}</code> <CopyButton text={address(provider)} />
        </dd>
      </dl>
      {receiptState === 'accepted' && eventIds.length > 0 && (
        <p>
          It became{' '}
          {eventIds.map((eventId, index) => (
            <a key={eventId} href={linkTo('events', { id: eventId })}>
              {index > 0 && ', '}
              {receipt.eventTypes[index] ?? 'an event'}
            </a>
          ))}
        </p>
      )}
      {receiptState === 'rejected' && (
        <>
          <p class="notice bad">{reason}</p>
          <h3>What the sender must change</h3>
          {findings === undefined && (
            <p class="quiet">Only an admin sees the doctor’s findings, since they name secrets.</p>
          )}
          {findings?.length === 0 && <p>The signature is not the reason: see above.</p>}
          <ol class="findings">
            {findings?.map(({ code, message, secretId }) => (
              <li key={code + message}>
                {message}
                {secretId && <span class="sub">Secret {secretId}</span>}
              </li>
            ))}
          </ol>
          <p>
            The signature is made over the raw bytes of the body. Examples in TypeScript, Python and shell are
            in docs/signing.md.
          </p>
        </>
      )}
      <p class="quiet id">{id}</p>
    </>
  )
}

function Outgoing() {
  const { query, set } = useFilters()
  const subscriptions = useQuery<{ data: Subscription[] }>({
    key: may('admin') ? ['subscriptions'] : undefined,
    read: () => api().developer.subscriptions.list(),
    pollMs: 60_000,
  })
  if (!may('admin'))
    return (
      <Empty title="No permission">
        <p>Subscriptions and their deliveries are for admins of the workspace.</p>
      </Empty>
    )
  if (subscriptions.isPending) return <Loading what="subscriptions" />
  if (subscriptions.error)
    return <Problem error={subscriptions.error} retry={() => void subscriptions.refetch()} />
  const all = subscriptions.data?.data ?? []
  if (all.length === 0)
    return (
      <Empty title="No subscriptions">
        <p>
          A subscription is a URL of yours that hears of failed runs, rules that were switched off and more.
        </p>
        <pre tabIndex={0}>
          npm run admin -- subscriptions create --workspace {workspaceId.value} --url https://…
        </pre>
      </Empty>
    )
  return (
    <Split
      list={
        <Rows
          items={all}
          label="Subscriptions"
          columns={3}
          selectedId={query.id}
          head={
            <>
              <th scope="col">URL</th>
              <th scope="col">Hears of</th>
              <th scope="col">State</th>
            </>
          }
          row={({ id, url, description, eventTypes, isActive }) => (
            <>
              <th scope="row">
                <a href={linkTo('webhooks', { ...query, id })}>{url}</a>
                {description && <span class="sub">{description}</span>}
              </th>
              <td data-label="Hears of">{eventTypes.join(', ')}</td>
              <td data-label="State">
                <Mark of={isActive ? 'active' : 'skipped'} word={isActive ? 'on' : 'off'} />
              </td>
            </>
          )}
        />
      }
      detail={query.id && <Deliveries id={query.id} key={query.id} close={() => set({ id: '' })} />}
    />
  )
}

function Deliveries({ id, close }: { id: string; close: () => void }) {
  const list = useList<SubscriptionDelivery>(['deliveries', id], async (cursor) => {
    const { data, nextCursor = null } = await api().developer.subscriptions.deliveries(id, {
      limit: 50,
      ...(cursor !== undefined && { cursor }),
    })
    return { rows: data, nextCursor }
  })
  return (
    <>
      <div class="row spread">
        <h2>Deliveries</h2>
        <button type="button" class="plain" aria-label="Close the deliveries" onClick={close}>
          ✕
        </button>
      </div>
      <Newer {...list} />
      {list.first.isPending && <Loading what="deliveries" />}
      {list.first.error && <Problem error={list.first.error} retry={() => void list.first.refetch()} />}
      {list.first.data && list.rows.length === 0 && <p class="quiet">Nothing was delivered yet.</p>}
      <ul class="plain-list">
        {list.rows.map((delivery) => (
          <li key={delivery.id}>
            <Mark of={delivery.status} /> <When at={delivery.createdAt} /> · {delivery.attempts}{' '}
            {delivery.attempts === 1 ? 'attempt' : 'attempts'}
            {delivery.lastStatusCode !== null && <> · answered {delivery.lastStatusCode}</>}
            {delivery.error && <span class="sub bad">{delivery.error}</span>}
          </li>
        ))}
      </ul>
      {list.rows.length > 0 && <Older {...list} />}
    </>
  )
}
