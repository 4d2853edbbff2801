import type { Role } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { DialogForm } from '../dialog-form.js'
import { Select } from '../select.js'
import { Alert } from '../states.js'
import { TextField } from '../text-field.js'
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
      add={{ label: 'Add a member', form: (close) => <NewMember close={close} /> }}
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

function NewMember({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('members')
  const [userId, setUserId] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  return (
    <DialogForm
      title="Add a member"
      send="Add"
      {...{ close, problem, isBusy }}
      submit={async () => {
        if ((await change(() => api().developer.members.put(userId.trim(), role))) !== undefined) close()
      }}
    >
      <TextField
        label="User"
        required
        maxLength={255}
        value={userId}
        aria-describedby="member-hint"
        set={setUserId}
      />
      <p id="member-hint" class="quiet">
        The sub of the user’s tokens.
      </p>
      <Select label="Role" value={role} options={roles} set={setRole} />
    </DialogForm>
  )
}
