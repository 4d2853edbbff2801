import type { SigningSecret } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'
import { Dialog } from '../dialog.js'
import { Mark } from '../mark.js'
import { Empty, Loading, Problem } from '../states.js'
import { When } from '../when.js'
import { ShownOnce } from './shown-once.js'
import { useChange } from './use-change.js'

export function Secrets() {
  const secrets = useQuery<{ data: SigningSecret[] }>({
    key: ['secrets'],
    read: () => api().developer.signingSecrets.list(),
    pollMs: false,
  })
  const { change, problem, isBusy } = useChange('secrets')
  const [isAdding, add] = useState(false)
  const all = secrets.data?.data ?? []
  if (secrets.isPending) return <Loading what="signing secrets" />
  if (secrets.error) return <Problem error={secrets.error} retry={() => void secrets.refetch()} />
  return (
    <>
      <p>
        <button type="button" class="primary" onClick={() => add(true)}>
          New signing secret
        </button>
      </p>
      <p role="alert" class="bad">
        {problem}
      </p>
      {all.length === 0 && (
        <Empty title="No signing secrets">
          <p>A provider signs its webhooks with a secret, so that nobody else can send them.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <table class="rows" aria-label="Signing secrets">
          <thead>
            <tr>
              <th scope="col">For</th>
              <th scope="col">Signs what</th>
              <th scope="col">State</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span class="hidden">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((secret) => (
              <tr key={secret.id}>
                <th scope="row">
                  {secret.provider}
                  <span class="sub id">{secret.id}</span>
                </th>
                <td data-label="Signs what">{secret.direction === 'incoming' ? 'comes in' : 'goes out'}</td>
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
                <td data-label="">
                  {secret.state === 'active' && (
                    <button
                      type="button"
                      class="plain"
                      disabled={isBusy}
                      aria-label={`Retire the secret of ${secret.provider} in 24 hours`}
                      onClick={() =>
                        void change(() =>
                          api().developer.signingSecrets.retire(secret.id, { overlap: '24h' }),
                        )
                      }
                    >
                      Retire
                    </button>
                  )}
                  {(secret.state === 'active' || secret.state === 'retiring') && (
                    <button
                      type="button"
                      class="plain"
                      disabled={isBusy}
                      aria-label={`Revoke the secret of ${secret.provider} now`}
                      onClick={() => void change(() => api().developer.signingSecrets.revoke(secret.id))}
                    >
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isAdding && <NewSecret close={() => add(false)} />}
    </>
  )
}

function NewSecret({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('secrets')
  const [provider, setProvider] = useState('')
  const [direction, setDirection] = useState<'incoming' | 'outgoing'>('incoming')
  const [text, setText] = useState<string>()
  return (
    <Dialog title="New signing secret" close={close}>
      {text !== undefined ? (
        <ShownOnce text={text} close={close} />
      ) : (
        <form
          onSubmit={async (event) => {
            event.preventDefault()
            setText(
              (await change(() => api().developer.signingSecrets.create({ provider, direction })))?.secret,
            )
          }}
        >
          <label>
            It signs
            <select
              value={direction}
              onChange={({ currentTarget }) => setDirection(currentTarget.value as 'incoming')}
            >
              <option value="incoming">webhooks that come in</option>
              <option value="outgoing">webhooks that go out</option>
            </select>
          </label>
          <label>
            {direction === 'incoming' ? 'Provider' : 'Host'}
            <input
              required
              value={provider}
              placeholder={direction === 'incoming' ? 'shop' : 'hooks.example.com'}
              onInput={({ currentTarget }) => setProvider(currentTarget.value)}
            />
          </label>
          <p role="alert" class="bad">
            {problem}
          </p>
          <div class="row end">
            <button type="submit" class="primary" disabled={isBusy}>
              Create
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
