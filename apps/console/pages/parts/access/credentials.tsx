import schema from 'schema:CredentialToPut'
import type { Credential, CredentialKind, CredentialToPatch, CredentialToPut } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { Opener } from '../opener.js'
import { type FieldText, SchemaForm } from '../schema-form.js'
import { When } from '../when.js'

const kinds: Record<CredentialKind, string> = {
  text: 'text: a token, or any other text',
  basic: 'basic: a user name and a password',
  oauth2: 'oauth2: client credentials',
}

/** The fields of each kind, and what they are called. */
const fieldsOf: Record<CredentialKind, Record<string, FieldText>> = {
  text: { value: { label: 'Value', kind: 'password', required: true } },
  basic: {
    username: { label: 'User name', required: true },
    password: { label: 'Password', kind: 'password' },
  },
  oauth2: {
    tokenUrl: { label: 'Token URL', required: true },
    clientId: { label: 'Client id', required: true },
    clientSecret: { label: 'Client secret', kind: 'password', required: true },
    scope: { label: 'Scope (optional)' },
    audience: { label: 'Audience (optional)' },
    clientAuthentication: {
      label: 'Where the token endpoint reads the client',
      words: { header: 'in the Authorization header', body: 'in the body' },
    },
  },
}

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
      add={{ label: 'New credential', form: <PutCredential /> }}
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
              <Opener label="Change…" title={`Change ${credential.name}`} look="small">
                <PutCredential of={credential} />
              </Opener>
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

/** @param of the one that is changed; undefined for a new one */
function PutCredential({ of }: { of?: Credential }) {
  const [values, set] = useState<Values>({
    name: of?.name ?? '',
    kind: of?.kind ?? 'text',
    hosts: of?.hosts ?? [],
  })
  const { name, kind, hosts } = values
  // Of another kind it has other values: all of them are needed.
  const isPart = of !== undefined && kind === of.kind
  const fields = Object.entries(fieldsOf[kind]).map(([field, text]) => {
    const words = isPart && text.words ? { '': 'as before', ...text.words } : text.words
    return [field, { ...text, required: !isPart && text.required, ...(words && { words }) }]
  })
  const put = () => {
    const typed = Object.keys(fieldsOf[kind]).flatMap((field) =>
      values[field] ? [[field, values[field]]] : [],
    )
    const given = { hosts, ...Object.fromEntries(typed) }
    const { credentials } = api().developer
    return isPart
      ? credentials.patch(of.name, given as CredentialToPatch)
      : credentials.put(name.trim(), { kind, ...given } as CredentialToPut)
  }
  return (
    <SchemaForm<Values, Credential>
      title={of === undefined ? 'New credential' : `Change ${of.name}`}
      send="Save"
      reads="credentials"
      isPart
      schema={schema}
      texts={{
        ...(!of && { name: { label: 'Name', required: true, maxLength: 64, placeholder: 'CRM' } }),
        kind: { label: 'Kind', words: kinds },
        ...Object.fromEntries(fields),
        hosts: { label: 'Hosts that it is sent to', placeholder: 'api.example.com' },
      }}
      submit={put}
      note={
        of === undefined
          ? 'A credential of this name is replaced. Its values cannot be shown again.'
          : 'What you leave empty stays as it is. Calls use the new values within a second, and rules stay as they are.'
      }
      {...{ values, set }}
    />
  )
}

interface Values {
  [field: string]: unknown
  name: string
  kind: CredentialKind
  hosts: string[]
}
