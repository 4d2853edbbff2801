import type { ApiKey, ApiKeyToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'
import { Dialog } from '../dialog.js'
import { Mark } from '../mark.js'
import { Empty, Loading, Problem } from '../states.js'
import { When } from '../when.js'
import { ShownOnce } from './shown-once.js'
import { useChange } from './use-change.js'

const scopes = {
  'rules:read': 'may read rules, events and runs',
  'rules:run': 'may also post events, run and retry',
  'rules:write': 'may also change rules',
  'receipts:read': 'may read the receipts of webhooks',
  admin: 'may do everything in this workspace',
} as const
const days = { '': 'never', 30: 'in 30 days', 90: 'in 90 days', 365: 'in a year' }

export function Keys() {
  const keys = useQuery<{ data: ApiKey[] }>({
    key: ['keys'],
    read: () => api().developer.apiKeys.list(),
    pollMs: false,
  })
  const { change, problem, isBusy } = useChange('keys')
  const [isAdding, add] = useState(false)
  const all = keys.data?.data ?? []
  if (keys.isPending) return <Loading what="API keys" />
  if (keys.error) return <Problem error={keys.error} retry={() => void keys.refetch()} />
  return (
    <>
      <p>
        <button type="button" class="primary" onClick={() => add(true)}>
          New API key
        </button>
      </p>
      <p role="alert" class="bad">
        {problem}
      </p>
      {all.length === 0 && (
        <Empty title="No API keys">
          <p>A key is for a program: it belongs to this workspace, and may do what you choose.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <table class="rows" aria-label="API keys">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">May</th>
              <th scope="col">State</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span class="hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((key) => (
              <tr key={key.id}>
                <th scope="row">{key.name}</th>
                <td data-label="May">{key.scopes.join(', ')}</td>
                <td data-label="State">
                  <Mark of={key.state === 'expired' ? 'revoked' : key.state} word={key.state} />
                </td>
                <td data-label="Last used">
                  <When at={key.lastUsedAt} />
                </td>
                <td data-label="">
                  {key.state === 'active' && (
                    <button
                      type="button"
                      class="plain"
                      disabled={isBusy}
                      aria-label={`Revoke ${key.name}`}
                      onClick={() => void change(() => api().developer.apiKeys.revoke(key.id))}
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
      {isAdding && <NewKey close={() => add(false)} />}
    </>
  )
}

function NewKey({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('keys')
  const [name, setName] = useState('')
  const [scope, setScope] = useState<keyof typeof scopes>('rules:read')
  const [endsIn, setEndsIn] = useState('90')
  const [text, setText] = useState<string>()
  async function create(): Promise<void> {
    const expiresAt =
      endsIn === '' ? {} : { expiresAt: new Date(Date.now() + Number(endsIn) * 86_400_000).toISOString() }
    const key: ApiKeyToCreate = { name, scopes: [scope], ...expiresAt }
    setText((await change(() => api().developer.apiKeys.create(key)))?.key)
  }
  return (
    <Dialog title="New API key" close={close}>
      {text !== undefined ? (
        <ShownOnce text={text} close={close} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void create()
          }}
        >
          <label>
            Name
            <input
              required
              maxLength={200}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <fieldset>
            <legend>The key</legend>
            {Object.entries(scopes).map(([value, words]) => (
              <label key={value} class="inline">
                <input
                  type="radio"
                  name="scope"
                  checked={scope === value}
                  onChange={() => setScope(value as keyof typeof scopes)}
                />{' '}
                {words}
              </label>
            ))}
          </fieldset>
          <label>
            Ends
            <select value={endsIn} onChange={({ currentTarget }) => setEndsIn(currentTarget.value)}>
              {Object.entries(days).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
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
