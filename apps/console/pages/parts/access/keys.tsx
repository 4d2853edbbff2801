import schema from 'schema:ApiKeyToCreate'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { Mark } from '../mark.js'
import { SchemaForm } from '../schema-form.js'
import { Select } from '../select.js'
import { When } from '../when.js'

const scopes = {
  'rules:read': 'can read rules, events and executions',
  'rules:run': 'can also post events, execute rules and retry',
  'rules:write': 'can also change rules',
  embed: 'can make embed sessions, with the role of its other scopes',
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
      add={{ label: 'New API key', form: <NewKey /> }}
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

function NewKey() {
  const [values, set] = useState({ name: '' })
  const [scope, setScope] = useState<keyof typeof scopes>('rules:read')
  const [endsIn, setEndsIn] = useState('90')
  const expiresAt = () => new Date(Date.now() + Number(endsIn) * 86_400_000).toISOString()
  return (
    <SchemaForm
      title="New API key"
      send="Create"
      reads="keys"
      isPart
      schema={schema}
      texts={{ name: { label: 'Name' } }}
      submit={() =>
        api().developer.apiKeys.create({
          ...values,
          scopes: [scope],
          ...(endsIn !== '' && { expiresAt: expiresAt() }),
        })
      }
      noun="key"
      shows={({ key }) => key}
      {...{ values, set }}
    >
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
    </SchemaForm>
  )
}
