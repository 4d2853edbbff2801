import schema from 'schema:MemberToPut'
import type { Role } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { SchemaForm } from '../schema-form.js'
import { Select } from '../select.js'
import { Alert } from '../states.js'
import { When } from '../when.js'

const roles: Record<Role, string> = {
  viewer: 'viewer: reads, and makes dry runs',
  operator: 'operator: also posts events, executes, retries, switches rules on and off',
  editor: 'editor: also changes rules',
  admin: 'admin: everything',
}

const roleNames = Object.fromEntries(Object.keys(roles).map((name) => [name, name])) as Record<Role, string>

export function Members() {
  return (
    <AdminList
      queryKey="members"
      what="members"
      read={async () =>
        (await api().developer.members.list()).data.map((member) => ({ ...member, id: member.userId }))
      }
      columns={['User', 'Role', 'Since', '']}
      empty={{ title: 'No members', text: 'A member is a user with access to this workspace.' }}
      add={{ label: 'Add a member', form: <NewMember /> }}
      row={({ userId, role, createdAt }) => (
        <>
          <th scope="row">{userId}</th>
          <td data-label="Role">
            <MemberRole userId={userId} role={role} />
          </td>
          <td data-label="Since">
            <When at={createdAt} />
          </td>
          <td data-label="" class="actions-cell">
            <Confirm
              label="Remove"
              title={`Remove ${userId}`}
              reads="members"
              work={() => api().developer.members.remove(userId)}
            >
              <p>From the next request on, {userId} sees nothing of this workspace.</p>
            </Confirm>
          </td>
        </>
      )}
    />
  )
}

function MemberRole({ userId, role }: { userId: string; role: Role }) {
  const { change, problem } = useChange('members')
  return (
    <>
      <Select
        label={`Role of ${userId}`}
        isLabelHidden
        value={role}
        options={roleNames}
        set={(next) => void change(() => api().developer.members.put(userId, next))}
      />
      <Alert isSmall>{problem}</Alert>
    </>
  )
}

function NewMember() {
  const [values, set] = useState<{ userId: string; role: Role }>({ userId: '', role: 'viewer' })
  return (
    <SchemaForm
      title="Add a member"
      send="Add"
      reads="members"
      schema={schema}
      texts={{
        userId: { label: 'User', required: true, maxLength: 255, hint: 'The sub of the user’s tokens.' },
        role: { label: 'Role', words: roles },
      }}
      submit={() => api().developer.members.put(values.userId.trim(), values.role)}
      {...{ values, set }}
    />
  )
}
