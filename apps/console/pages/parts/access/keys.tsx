import type { ApiKeyToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { DialogForm } from '../dialog-form.js'
import { Mark } from '../mark.js'
import { Select } from '../select.js'
import { ShownOnceDialog } from '../shown-once.js'
import { TextField } from '../text-field.js'
import { When } from '../when.js'

const scopes = {
  'rules:read': 'can read rules, events and executions',
  'rules:run': 'can also post events, execute rules and retry',
  'rules:write': 'can also change rules',
  'receipts:read': 'can read the receipts of webhooks',
  admin: 'can do everything in this workspace',
} as const
const days = { '': 'never', 30: 'in 30 days', 90: 'in 90 days', 365: 'in a year' }

export function Keys() {
  return (
    <AdminList
      queryKey="keys"
      what="API keys"
      read={async () => (await api().developer.apiKeys.list()).data}
      columns={['Name', 'May', 'State', 'Last used', '']}
      empty={{
        title: 'No API keys',
        text: 'An API key is for a program. It belongs to this workspace and has the permissions that you choose.',
      }}
      add={{ label: 'New API key', form: (close) => <NewKey close={close} /> }}
      row={(key) => (
        <>
          <th scope="row">{key.name}</th>
          <td data-label="May">{key.scopes.join(', ')}</td>
          <td data-label="State">
            <Mark of={key.state === 'expired' ? 'revoked' : key.state} word={key.state} />
          </td>
          <td data-label="Last used">
            <When at={key.lastUsedAt} />
          </td>
          <td data-label="" class="actions-cell">
            {key.state === 'active' && (
              <Confirm
                label="Revoke"
                title={`Revoke ${key.name}`}
                reads="keys"
                work={() => api().developer.apiKeys.revoke(key.id)}
              >
                <p>Requests with this key are rejected immediately. This cannot be undone.</p>
              </Confirm>
            )}
          </td>
        </>
      )}
    />
  )
}

function NewKey({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('keys')
  const [name, setName] = useState('')
  const [scope, setScope] = useState<keyof typeof scopes>('rules:read')
  const [endsIn, setEndsIn] = useState('90')
  const [text, setText] = useState<string>()
  if (text !== undefined) return <ShownOnceDialog title="New API key" text={text} close={close} />
  async function create(): Promise<void> {
    const expiresAt =
      endsIn === '' ? {} : { expiresAt: new Date(Date.now() + Number(endsIn) * 86_400_000).toISOString() }
    const key: ApiKeyToCreate = { name, scopes: [scope], ...expiresAt }
    setText((await change(() => api().developer.apiKeys.create(key)))?.key)
  }
  return (
    <DialogForm title="New API key" send="Create" {...{ close, problem, isBusy }} submit={create}>
      <TextField label="Name" required maxLength={200} value={name} set={setName} />
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
      <Select label="Ends" value={endsIn} options={days} set={setEndsIn} />
    </DialogForm>
  )
}
