import type { Receipt } from '@automation/client'
import { given } from '../../logic/filters.js'
import { readMerged } from '../../logic/history/read-merged.js'
import { DetailHead } from '../../parts/detail-head.js'
import { ChoiceFilter, TextFilter } from '../../parts/filter.js'
import { History } from '../../parts/history.js'
import { Mark } from '../../parts/mark.js'
import { Empty } from '../../parts/states.js'
import { WebhookAddress } from '../../parts/webhook-address.js'
import { When } from '../../parts/when.js'
import { linkToEvent } from '../../state/links.js'
import { api, apiUrl, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'

const states = { accepted: 'accepted', rejected: 'refused' } as const
type State = keyof typeof states

/** Deliveries of providers: accepted ones, and refused ones with what the sender has to change. */
export function Incoming() {
  const { query, set } = useFilters()
  const { state = '', provider = '', id } = query
  const wanted = Object.hasOwn(states, state) ? [state as State] : (Object.keys(states) as State[])
  const reads = wanted.map((state) => async (cursor?: string) => {
    const { data, nextCursor = null } = await api().developer.receipts.list({
      limit: 50,
      state,
      ...given({ cursor, provider }),
    })
    return { rows: data, nextCursor }
  })
  const list = useList<Receipt>(['receipts', state, provider], (cursor) => readMerged(reads, cursor))
  const selected = list.rows.find((row) => row.id === id)
  return (
    <>
      <search class="filters">
        <ChoiceFilter
          label="State"
          value={state}
          all="any"
          options={states}
          isFirst
          set={(chosen) => set({ state: chosen, id: '' })}
        />
        <TextFilter label="Provider" value={provider} set={(typed) => set({ provider: typed, id: '' })} />
      </search>
      <History
        list={list}
        what="webhooks"
        columns={['Arrived', 'Provider', 'State', 'Became']}
        selectedId={id}
        empty={<NoWebhooks isRejected={state === 'rejected'} />}
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
            <td data-label="Became">{receipt.eventTypes.map(nameType).join(', ') || '–'}</td>
          </>
        )}
        detail={selected && <Doctor receipt={selected} close={() => set({ id: '' })} />}
      />
    </>
  )
}

/** Receipts write types of the catalogue in small letters, and events do not: a reader sees one spelling. */
function nameType(type: string): string {
  return /^[a-z][a-z_]*$/.test(type) ? type.toUpperCase() : type
}

function NoWebhooks({ isRejected }: { isRejected: boolean }) {
  if (isRejected)
    return (
      <Empty title="No webhook was refused">
        <p>Refused webhooks are listed here, with what the sender must change.</p>
      </Empty>
    )
  return (
    <Empty title="No webhooks yet">
      <p>
        A provider posts signed JSON to this address. Each provider has a secret, under{' '}
        <a href={linkTo('access', { tab: 'secrets' })}>Access</a>.
      </p>
      <WebhookAddress provider="<provider>" />
      <p>
        Try it: <code>npm run webhook -- send</code>
      </p>
    </Empty>
  )
}

/** What nearly fits, and what the sender does differently. */
function Doctor({ receipt, close }: { receipt: Receipt; close: () => void }) {
  const { receiptState, provider, idempotencyKey, eventIds = [], id, verified } = receipt
  return (
    <>
      <DetailHead title={provider} what="the webhook" close={close} />
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
          <WebhookAddress provider={provider} />
        </dd>
      </dl>
      {receiptState === 'accepted' && eventIds.length > 0 && (
        <p>
          It became{' '}
          {eventIds.map((eventId, index) => (
            <span key={eventId}>
              {index > 0 && ', '}
              <a href={linkToEvent(eventId)}>{nameType(receipt.eventTypes[index] ?? 'an event')}</a>
            </span>
          ))}
        </p>
      )}
      {receipt.handshake && <p>The provider asked whether the address is there. Nothing followed.</p>}
      {receipt.repeatedBy && (
        <p>
          It was delivered again, with the same {receipt.repeatedBy}
          {receipt.bodyDiffers && ', and once with another body'}. That had no effect.
        </p>
      )}
      {receiptState === 'rejected' && <Refusal receipt={receipt} />}
      <p class="quiet id">{id}</p>
    </>
  )
}

const reasons: Record<string, string> = {
  signature: 'Refused: the signature is wrong.',
  timestamp: 'Refused: the timestamp is too old, or in the future.',
}

function Refusal({ receipt: { reason, findings } }: { receipt: Receipt }) {
  return (
    <>
      <p class="notice bad">{reasons[reason ?? ''] ?? `Refused: ${reason}`}</p>
      <h3>What the sender must change</h3>
      {findings === undefined && !may('admin') && (
        <p class="quiet">Only admins see the signature diagnosis, because it names secrets.</p>
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
      <p class="quiet">
        The signature is made over the raw bytes of the body.{' '}
        <a href={`${apiUrl.value}/docs/reference/signing`} target="_blank" rel="noreferrer">
          Examples in TypeScript, Python and shell
        </a>
      </p>
    </>
  )
}
