import schema from 'schema:MemberToPut'
import type { Role } from '@automation/client'
import { useState } from 'preact/hooks'
import { roleWords } from '../../logic/role-words.js'
import { api } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useChange } from '../../state/use-change.js'
import { AdminList } from '../admin-list.js'
import { Confirm } from '../confirm.js'
import { Opener } from '../opener.js'
import { SchemaForm } from '../schema-form.js'
import { Select } from '../select.js'
import { Alert } from '../states.js'
import { now, When } from '../when.js'
import { NewInvitation, OpenInvitations } from './invitations.js'

const roleNames = Object.fromEntries(Object.keys(roleWords).map((name) => [name, name])) as Record<
  Role,
  string
>

export function Members() {
  return (
    <>
      <AdminList
        queryKey="members"
        what="members"
        read={async () =>
          (await api().developer.members.list()).data.map((member) => ({ ...member, id: member.userId }))
        }
        columns={['User', 'Role', { text: 'Since', isLow: true }, 'Last seen', '']}
        empty={{ title: 'No members', text: 'A member is a user with access to this workspace.' }}
        add={{ label: 'Invite by a link', form: <NewInvitation /> }}
        addOtherwise={
          <>
            <Opener label="Add a member">
              <NewMember />
            </Opener>
            <Opener label="Grant support access">
              <NewSupport />
            </Opener>
          </>
        }
        row={({ userId, role, createdAt, lastSeenAt, endsAt, reason }) => (
          <>
            <th scope="row">{userId}</th>
            <td data-label="Role">
              {endsAt === null ? (
                <MemberRole userId={userId} role={role} />
              ) : (
                <>
                  Support, until <When at={endsAt} />
                  {reason !== null && <div class="quiet">{reason}</div>}
                </>
              )}
            </td>
            <td data-label="Since" class="low">
              <When at={createdAt} />
            </td>
            <td data-label="Last seen">
              {lastSeenAt === null ? (
                <span class="quiet">has never signed in</span>
              ) : (
                <LastSeen at={lastSeenAt} />
              )}
            </td>
            <td data-label="" class="actions-cell">
              <Confirm
                label={endsAt === null ? 'Remove' : 'End now'}
                title={endsAt === null ? `Remove ${userId}` : `End the support access of ${userId}`}
                reads="members"
                work={() => api().developer.members.remove(userId)}
              >
                <p>From the next request on, {userId} sees nothing of this workspace.</p>
              </Confirm>
            </td>
          </>
        )}
      />
      <OpenInvitations />
    </>
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
        set={async (next) => {
          if (await change(() => api().developer.members.put(userId, { role: next })))
            toast(`${userId} is ${next} now`)
        }}
      />
      <Alert isSmall>{problem}</Alert>
    </>
  )
}

const hourMs = 3_600_000

/** The service notes it once an hour: nobody can tell more. */
function LastSeen({ at }: { at: string }) {
  return now.value.getTime() - Date.parse(at) < hourMs ? <>within the last hour</> : <When at={at} />
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
        userId: {
          label: 'User',
          required: true,
          maxLength: 255,
          hint: 'The id of this person in the tokens of your identity provider, its claim sub: often no email address. With another text nobody gets in.',
        },
        role: { label: 'Role', words: roleWords },
      }}
      isPart
      submit={() => api().developer.members.put(values.userId.trim(), { role: values.role })}
      {...{ values, set }}
    >
      <p class="quiet">If you do not know it, invite them by a link: then they bring it along.</p>
    </SchemaForm>
  )
}

function NewSupport() {
  const [values, set] = useState({ userId: '', endsInHours: 4, reason: '' })
  const { userId, endsInHours, reason } = values
  return (
    <SchemaForm
      title="Grant support access"
      send="Grant"
      reads="members"
      schema={schema}
      isPart
      texts={{
        userId: {
          label: 'User',
          required: true,
          maxLength: 255,
          hint: 'The person who helps you tells you this id.',
        },
        endsInHours: { label: 'Hours', required: true, hint: 'At most 72. You can end it earlier.' },
        reason: { label: 'Reason', hint: 'Such as the number of a ticket. All admins see it.' },
      }}
      submit={() =>
        api().developer.members.put(userId.trim(), {
          role: 'viewer',
          endsInHours,
          ...(reason.trim() !== '' && { reason: reason.trim() }),
        })
      }
      {...{ values, set }}
    >
      <p class="quiet">They see what a viewer sees, without credentials, and change nothing.</p>
    </SchemaForm>
  )
}
