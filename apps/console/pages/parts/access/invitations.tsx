import schema from 'schema:InvitationToCreate'
import type { Invitation, Role } from '@automation/client'
import { useState } from 'preact/hooks'
import { nameActor } from '../../logic/name-actor.js'
import { roleWords } from '../../logic/role-words.js'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'
import { Confirm } from '../confirm.js'
import { Rows } from '../rows.js'
import { SchemaForm } from '../schema-form.js'
import { When } from '../when.js'

/** Those that somebody may still accept. */
export function OpenInvitations() {
  const found = useQuery<Invitation[]>({
    key: ['invitations'],
    read: async () => (await api().developer.invitations.list()).data,
    pollMs: false,
  })
  const open = found.data?.filter(({ state }) => state === 'open') ?? []
  if (open.length === 0) return null
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Open invitations</h2>
      <Rows
        items={open}
        label="open invitations"
        columns={['Role', 'From', 'Until', '']}
        row={({ id, role, createdBy, expiresAt }) => (
          <>
            <th scope="row">{role}</th>
            <td data-label="From">{nameActor(createdBy)}</td>
            <td data-label="Until">
              <When at={expiresAt} />
            </td>
            <td data-label="" class="actions-cell">
              <Confirm
                label="Revoke"
                title={`Revoke the invitation as ${role}`}
                reads="invitations"
                work={() => api().developer.invitations.revoke(id)}
              >
                <p>Its link is worth nothing from then on.</p>
              </Confirm>
            </td>
          </>
        )}
      />
    </section>
  )
}

export function NewInvitation() {
  const [values, set] = useState<{ role: Role }>({ role: 'viewer' })
  return (
    <SchemaForm
      title="Invite by a link"
      send="Make the link"
      reads="invitations"
      schema={schema}
      texts={{ role: { label: 'Role', words: roleWords } }}
      submit={() => api().developer.invitations.create(values)}
      noun="link"
      shows={({ token }) => `${location.origin}/join#${token}`}
      {...{ values, set }}
    >
      <p class="quiet">
        The first user who opens the link and signs in becomes a member. It works once, for seven days: send
        it to this person alone.
      </p>
    </SchemaForm>
  )
}
