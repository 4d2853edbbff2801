import { signal } from '@preact/signals'
import { invitationName, keptInTab } from './browser-store.js'

/** The token of the invitation that somebody has opened in this tab: it stays while they sign in. */
export const invitation = signal(keptInTab.get(invitationName) ?? undefined)

/** Takes it out of the address, where it stands behind the `#`: it reaches no server, and does not stay in the history. */
export function takeInvitation(): void {
  const token = location.hash.slice(1)
  if (location.pathname !== '/join' || token === '') return
  history.replaceState(null, '', '/join')
  keptInTab.set(invitationName, token)
  invitation.value = token
}

export function forgetInvitation(): void {
  keptInTab.remove(invitationName)
  invitation.value = undefined
}
