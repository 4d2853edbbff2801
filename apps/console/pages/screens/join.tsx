import type { InvitationForUser } from '@automation/client'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { roleWords } from '../logic/role-words.js'
import { askToSignOut } from '../parts/sign-out.js'
import { Alert, Loading, Problem } from '../parts/states.js'
import { forgetInvitation } from '../state/invitation.js'
import { api, loadMe, me } from '../state/session.js'
import { useChange } from '../state/use-change.js'
import { isMissing, useQuery } from '../state/use-query.js'

/** What an invitation is for, and the button that accepts it: the link alone grants nothing. */
export function Join({ token }: { token: string }) {
  const { route } = useLocation()
  const found = useQuery<InvitationForUser>({
    key: ['invitation', token],
    read: () => api().developer.invitations.read(token),
    // It may be accepted in another tab.
    pollMs: 60_000,
  })
  const { change, problem, isBusy } = useChange('invitation')
  const open = (path: string) => {
    forgetInvitation()
    route(path, true)
  }
  async function join(): Promise<void> {
    const joined = await change(() => api().developer.invitations.accept(token))
    if (joined === undefined) return
    await loadMe()
    open(`/w/${joined.workspace.id}/overview`)
  }
  useEffect(() => {
    document.title = 'Invitation · Automation rules'
  }, [])
  if (found.isPending)
    return (
      <main class="alone card">
        <Loading what="the invitation" rows={3} />
      </main>
    )
  if (!found.data)
    return (
      <main class="alone card">
        <h1>{isMissing(found.error) ? 'This invitation is not valid' : 'Invitation'}</h1>
        {isMissing(found.error) ? (
          <p>It was used or revoked, or has expired. Ask for another one.</p>
        ) : (
          <Problem error={found.error} retry={() => void found.refetch()} />
        )}
        <div class="row end">
          <button type="button" onClick={() => open('/')}>
            Go on without it
          </button>
        </div>
      </main>
    )
  const { workspace, role, currentRole, accepted } = found.data
  const isMember = currentRole !== null && (accepted || !isHigher(role, currentRole))
  return (
    <main class="alone card">
      <h1>{isMember ? `You are a member of ${workspace.name}` : `Join ${workspace.name}`}</h1>
      <p>
        {isMember ? `You have the role ${currentRole}.` : `You are invited as ${roleWords[role]}.`} You are
        signed in as <code>{me.value?.userId ?? me.value?.actor}</code>.
      </p>
      <Alert>{problem}</Alert>
      <div class="row end">
        <button type="button" onClick={() => void askToSignOut()}>
          Sign in as somebody else
        </button>
        {!isMember && (
          <button type="button" onClick={() => open('/')}>
            Not now
          </button>
        )}
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy}
          onClick={() => {
            if (isMember) open(`/w/${workspace.id}/overview`)
            else if (!isBusy) void join()
          }}
        >
          {isMember ? 'Open it' : 'Join'}
        </button>
      </div>
    </main>
  )
}

const roles = Object.keys(roleWords)

function isHigher(one: string, other: string): boolean {
  return roles.indexOf(one) > roles.indexOf(other)
}
