import type { Credential, CredentialKind, CredentialToPatch, CredentialToPut } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { DialogForm } from '../dialog-form.js'
import { Select } from '../select.js'
import { TextField } from '../text-field.js'
import { When } from '../when.js'

const kinds: Record<CredentialKind, string> = {
  text: 'text: a token, or any other text',
  basic: 'basic: a user name and a password',
  oauth2: 'oauth2: client credentials',
}

/** The fields of each kind, and what they are called. */
const fieldsOf = {
  text: [['value', 'Value', 'secret']],
  basic: [
    ['username', 'User name', 'text'],
    ['password', 'Password', 'secret'],
  ],
  oauth2: [
    ['tokenUrl', 'Token URL', 'text'],
    ['clientId', 'Client id', 'text'],
    ['clientSecret', 'Client secret', 'secret'],
    ['scope', 'Scope (optional)', 'optional'],
    ['audience', 'Audience (optional)', 'optional'],
  ],
} as const satisfies Record<CredentialKind, readonly (readonly [keyof CredentialToPut, string, string])[]>

export function Credentials() {
  return (
    <AdminList
      queryKey="credentials"
      what="credentials"
      read={async () =>
        (await api().developer.credentials.list()).data.map((one) => ({ ...one, id: one.name }))
      }
      columns={['Name', 'Kind', 'Hosts', 'Last used', '']}
      empty={{
        title: 'No credentials',
        text: 'A rule sends a credential by its name, so that nobody reads the token in the rule.',
      }}
      add={{ label: 'New credential', form: (close) => <PutCredential close={close} /> }}
      row={({ id: _id, ...credential }) => (
        <>
          <th scope="row">
            {credential.name}
            <span class="sub id">{`{{credentials.${credential.name}}}`}</span>
          </th>
          <td data-label="Kind">{credential.kind}</td>
          <td data-label="Hosts">{credential.hosts.join(', ')}</td>
          <td data-label="Last used">
            <When at={credential.lastUsedAt} />
          </td>
          <td data-label="" class="actions-cell">
            <span class="row">
              <Change credential={credential} />
              <Confirm
                label="Delete"
                title={`Delete the credential ${credential.name}`}
                reads="credentials"
                work={() => api().developer.credentials.delete(credential.name)}
              >
                <p>Waiting executions that still name it fail at their call. This cannot be undone.</p>
              </Confirm>
            </span>
          </td>
        </>
      )}
    />
  )
}

function Change({ credential }: { credential: Credential }) {
  const [isOpen, open] = useState(false)
  const label = `Change ${credential.name}`
  return (
    <>
      <button type="button" class="small" aria-label={label} onClick={() => open(true)}>
        Change…
      </button>
      {isOpen && <PutCredential of={credential} close={() => open(false)} />}
    </>
  )
}

/** @param of the one that is changed; undefined for a new one */
function PutCredential({ of, close }: { of?: Credential; close: () => void }) {
  const { change, problem, isBusy } = useChange('credentials')
  const [name, setName] = useState(of?.name ?? '')
  const [kind, setKind] = useState<CredentialKind>(of?.kind ?? 'text')
  const [hosts, setHosts] = useState(of?.hosts.join(', ') ?? '')
  const [values, setValues] = useState<Record<string, string>>({})
  // Of another kind it has other values: all of them are needed.
  const isPart = of !== undefined && kind === of.kind
  const put = async () => {
    const given = fieldsOf[kind].flatMap(([field]) => (values[field] ? [[field, values[field]]] : []))
    const list = hosts.split(/[\s,]+/).filter((host) => host !== '')
    const { clientAuthentication } = values
    const client = kind === 'oauth2' && clientAuthentication && { clientAuthentication }
    const fields = { hosts: list, ...Object.fromEntries(given), ...client }
    const { credentials } = api().developer
    const send = () =>
      isPart
        ? credentials.patch(of.name, fields as CredentialToPatch)
        : credentials.put(name.trim(), { kind, ...fields } as CredentialToPut)
    if ((await change(send)) !== undefined) close()
  }
  return (
    <DialogForm
      title={of === undefined ? 'New credential' : `Change ${of.name}`}
      send="Save"
      {...{ close, problem, isBusy }}
      submit={put}
      note={
        of === undefined
          ? 'A credential of this name is replaced. Its values cannot be shown again.'
          : 'What you leave empty stays as it is. Calls use the new values within a second, and rules stay as they are.'
      }
    >
      {of === undefined && (
        <TextField label="Name" required maxLength={64} value={name} placeholder="CRM" set={setName} />
      )}
      <Select label="Kind" value={kind} options={kinds} set={setKind} />
      {fieldsOf[kind].map(([field, label, type]) => (
        <TextField
          key={field}
          label={label}
          required={!isPart && type !== 'optional' && field !== 'password'}
          type={type === 'secret' ? 'password' : 'text'}
          autocomplete="off"
          value={values[field] ?? ''}
          set={(typed) => setValues({ ...values, [field]: typed })}
        />
      ))}
      {kind === 'oauth2' && (
        <Select
          label="Where the token endpoint reads the client"
          value={values.clientAuthentication ?? (isPart ? '' : 'header')}
          options={{
            ...(isPart && { '': 'as before' }),
            header: 'in the Authorization header',
            body: 'in the body',
          }}
          set={(clientAuthentication) => setValues({ ...values, clientAuthentication })}
        />
      )}
      <TextField
        label="Hosts that it is sent to"
        required
        value={hosts}
        placeholder="api.example.com"
        set={setHosts}
      />
    </DialogForm>
  )
}
