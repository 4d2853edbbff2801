import type { Member, Role } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'
import { Dialog } from '../dialog.js'
import { Loading, Problem } from '../states.js'
import { When } from '../when.js'
import { useChange } from './use-change.js'

const roles: Record<Role, string> = {
  viewer: 'viewer: reads and tries out',
  operator: 'operator: runs, retries, switches on and off',
  editor: 'editor: changes rules',
  admin: 'admin: everything',
}

export function Members() {
  const members = useQuery<{ data: Member[] }>({
    key: ['members'],
    read: () => api().developer.members.list(),
    pollMs: false,
  })
  const { change, problem, isBusy } = useChange('members')
  const [isAdding, add] = useState(false)
  const [userId, setUserId] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  if (members.isPending) return <Loading what="members" />
  if (members.error) return <Problem error={members.error} retry={() => void members.refetch()} />
  return (
    <>
      <p>
        <button type="button" class="primary" onClick={() => add(true)}>
          Add a member
        </button>
      </p>
      <p role="alert" class="bad">
        {!isAdding && problem}
      </p>
      <table class="rows" aria-label="Members">
        <thead>
          <tr>
            <th scope="col">User</th>
            <th scope="col">Role</th>
            <th scope="col">Since</th>
            <th scope="col">
              <span class="hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.data?.data.map((member) => (
            <tr key={member.userId}>
              <th scope="row">{member.userId}</th>
              <td data-label="Role">
                <select
                  aria-label={`Role of ${member.userId}`}
                  value={member.role}
                  disabled={isBusy}
                  onChange={({ currentTarget }) =>
                    void change(() => api().developer.members.put(member.userId, currentTarget.value as Role))
                  }
                >
                  {Object.entries(roles).map(([name, text]) => (
                    <option key={name} value={name}>
                      {text}
                    </option>
                  ))}
                </select>
              </td>
              <td data-label="Since">
                <When at={member.createdAt} />
              </td>
              <td data-label="">
                <button
                  type="button"
                  class="plain"
                  disabled={isBusy}
                  aria-label={`Remove ${member.userId}`}
                  onClick={() => void change(() => api().developer.members.remove(member.userId))}
                >
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isAdding && (
        <Dialog title="Add a member" close={() => add(false)}>
          <form
            onSubmit={async (event) => {
              event.preventDefault()
              if ((await change(() => api().developer.members.put(userId.trim(), role))) !== undefined)
                add(false)
            }}
          >
            <label>
              User
              <input
                required
                maxLength={255}
                value={userId}
                aria-describedby="member-hint"
                onInput={({ currentTarget }) => setUserId(currentTarget.value)}
              />
            </label>
            <p id="member-hint" class="quiet">
              The sub of the user’s tokens.
            </p>
            <label>
              Role
              <select value={role} onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}>
                {Object.entries(roles).map(([name, text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <p role="alert" class="bad">
              {problem}
            </p>
            <div class="row end">
              <button type="submit" class="primary" disabled={isBusy}>
                Add
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}
