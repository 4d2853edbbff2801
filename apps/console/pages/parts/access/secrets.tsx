import type { SigningSecret, Subscription } from '@automation/client'
import { useState } from 'preact/hooks'
import { schemes } from '../../logic/scheme-names.js'
import { api } from '../../state/session.js'
import { rowsOf, useQuery } from '../../state/use-query.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { laterDialog } from '../later.js'
import { Mark } from '../mark.js'
import { Opener } from '../opener.js'
import { When } from '../when.js'

// They come with the first form.
const NewSecret = laterDialog('New signing secret', () =>
  import('./secret-forms.js').then(({ NewSecret }) => NewSecret),
)
const ChangeSecret = laterDialog('Change the secret', () =>
  import('./secret-forms.js').then(({ ChangeSecret }) => ChangeSecret),
)

export function Secrets() {
  const [hasSubscriptions, setHasSubscriptions] = useState(false)
  const subscriptions = useQuery<readonly Subscription[]>({
    key: hasSubscriptions ? rowsOf('subscriptions') : undefined,
    read: async () => (await api().developer.subscriptions.list()).data,
    pollMs: false,
  })
  /** The secret of a subscription names it by its id: readers know its URL. */
  const nameOf = (provider: string) => {
    if (subscriptions.data === undefined && isUuid(provider)) return 'A subscription'
    return subscriptions.data?.find(({ id }) => id === provider)?.url ?? provider
  }
  return (
    <AdminList
      queryKey="secrets"
      what="signing secrets"
      read={async () => {
        const { data } = await api().developer.signingSecrets.list()
        setHasSubscriptions(
          data.some(({ direction, provider }) => direction === 'outgoing' && isUuid(provider)),
        )
        return data
      }}
      columns={['For', { text: 'Direction', isLow: true }, 'State', 'Last used', '']}
      empty={{
        title: 'No signing secrets',
        text: 'A provider signs its webhooks with a secret, so that only it can send them.',
      }}
      add={{ label: 'New signing secret', form: <NewSecret /> }}
      row={(secret) => (
        <>
          <th scope="row">
            {nameOf(secret.provider)}
            {secret.scheme !== 'automation' && <span class="quiet"> · {schemes[secret.scheme]}</span>}
            <span class="sub id">{secret.id}</span>
          </th>
          <td class="low">{secret.direction}</td>
          <td data-label="State">
            <Mark of={secret.state} />
            {secret.state === 'retiring' && (
              <span class="sub">
                until <When at={secret.retiresAt} />
              </span>
            )}
          </td>
          <td data-label="Last used">
            <When at={secret.lastUsedAt} />
          </td>
          <td data-label="" class="actions-cell">
            <EndSecret secret={secret} name={nameOf(secret.provider)} />
          </td>
        </>
      )}
    />
  )
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

function EndSecret({ secret, name }: { secret: SigningSecret; name: string }) {
  const { id, state } = secret
  return (
    <span class="row">
      {secret.scheme !== 'automation' && state === 'active' && (
        <Opener label="Change…" title={`Change the secret of ${name}`} look="small">
          <ChangeSecret secret={secret} />
        </Opener>
      )}
      {state === 'active' && (
        <Confirm
          label="Retire"
          title={`Retire the secret of ${name} in 24 hours`}
          reads="secrets"
          work={() => api().developer.signingSecrets.retire(id, { overlap: '24h' })}
        >
          <p>It works for 24 hours more. Make a new secret first, and give it to {name}.</p>
        </Confirm>
      )}
      {(state === 'active' || state === 'retiring') && (
        <Confirm
          label="Revoke"
          title={`Revoke the secret of ${name} now`}
          reads="secrets"
          work={() => api().developer.signingSecrets.revoke(id)}
        >
          <p>Webhooks signed with it are rejected from now on. This cannot be undone.</p>
        </Confirm>
      )}
    </span>
  )
}
