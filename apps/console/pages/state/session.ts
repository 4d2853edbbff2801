import { ApiError, type Client, createClient, type Me } from '@automation/client'
import { computed, signal } from '@preact/signals'
import { removeOldTexts, removeTextsOf } from '../logic/kept-texts.js'
import { invitationName, kept, keptInTab } from './browser-store.js'
import { frame, includes, type Limited } from './frame.js'

/** undefined: not known yet. null: nobody is signed in. */
export const me = signal<Me | null | undefined>(undefined)
/** The session ended while a page was open: the sign-in is shown above it, and nothing typed is lost. */
export const hasEnded = signal(false)
/** Why the first request failed, other than without a session. */
export const startProblem = signal<unknown>(undefined)
export const workspaceId = signal<string | undefined>(undefined)

/** The address at which the console reaches the API, for programs; '' if it is not known. */
export const apiUrl = signal('')
/** The address of the board of the queue; '' if it is not known. */
export const boardUrl = signal('')

interface Session {
  isSignedIn: boolean
  apiUrl?: string
  boardUrl?: string
}

const clients = new Map<string, Client>()

/** The client of the shown workspace. Its origin is the page's own, and the session is the cookie, or in a frame its token. */
export function api(): Client {
  const id = workspaceId.value ?? ''
  const known = clients.get(id)
  if (known) return known
  const client = createClient({
    baseUrl: '',
    workspaceId: id || undefined,
    ...(inFrame && { token: () => frame.peek()?.token ?? '' }),
    // A refusal is shown at once, and polling tries again: by itself the client would wait as long as the refusal says.
    retries: 0,
    timeoutMs: 20_000,
    fetch: fetchAndNote,
  })
  clients.set(id, client)
  return client
}

export const workspace = computed(() => me.value?.workspaces.find(({ id }) => id === workspaceId.value))

const roles = { viewer: 0, operator: 1, editor: 2, admin: 3 } as const
export type RoleName = keyof typeof roles

/** The role that each needs which an embed session may not have, whatever its role. */
const ranks: Readonly<Partial<Record<RoleName | Limited, number>>> = {
  ...roles,
  ...{ switch: 1, bulk: 1, send: 1, replay: 1, create: 2, publish: 2, settings: 2 },
}

/** Whether the user has a role, or one with more rights, in the shown workspace; and in a frame, whether its session includes it. */
export function may(need: RoleName | Limited): boolean {
  const own = workspace.value?.role
  return own !== undefined && own !== null && roles[own] >= (ranks[need] ?? 0) && (!inFrame || includes(need))
}

export async function loadMe(): Promise<void> {
  try {
    // The console itself knows whether there is a session: without one, nothing is asked of the API.
    const response = await fetch('/session')
    const session = response.ok ? ((await response.json()) as Session) : undefined
    if (session?.isSignedIn === false) return noteSignedOut()
    apiUrl.value = session?.apiUrl ?? ''
    boardUrl.value = session?.boardUrl ?? ''
    const before = me.peek()
    const now = await createClient({ baseUrl: '', retries: 1 }).me()
    // Nothing of what another user has seen or typed stays in the page.
    if (hasEnded.peek() && before && before.actor !== now.actor) return location.reload()
    removeOldTexts(kept, Date.now())
    me.value = now
    startProblem.value = undefined
    hasEnded.value = false
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) noteSignedOut()
    // What is shown stays, also under the dialog of an ended session.
    else if (!me.peek()) startProblem.value = error
  }
}

function noteSignedOut(): void {
  if (!hasEnded.peek()) me.value = null
}

// Somebody may have signed in in another tab.
if (!inFrame)
  addEventListener('focus', () => {
    if (hasEnded.peek() || me.peek() === null) void loadMe()
  })

/** Notices the end of the session, and a suspension, whatever was asked. */
const fetchAndNote: typeof fetch = async (input, init) => {
  const response = await fetch(input, inFrame ? asFrame(init) : init)
  if (response.status === 401) hasEnded.value = true
  if (response.headers.get('x-error-code') === 'workspace_suspended') noteSuspension()
  return response
}

let isNoting = false

/** What is shown of a workspace comes with the user: it is read again, once. */
function noteSuspension(): void {
  const { suspendedBy, deletionAskedBy } = workspace.peek() ?? {}
  if (inFrame || isNoting || suspendedBy || deletionAskedBy) return
  isNoting = true
  void loadMe().finally(() => {
    isNoting = false
  })
}

/** Neither sends nor takes a cookie: that of a colleague who is signed in never acts inside a frame. */
function asFrame(init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('x-embed-session', frame.peek()?.id ?? '')
  return { ...init, headers, credentials: 'omit' }
}

export async function signOut(): Promise<void> {
  const response = await fetch('/session', { method: 'DELETE' })
  if (!response.ok) startProblem.value = new Error('Signing out failed. Try again in a moment.')
  else {
    removeTextsOf(kept, me.peek()?.actor ?? '')
    const invited = keptInTab.get(invitationName)
    keptInTab.clear()
    // Who signs in next may be whom it was made for.
    if (invited !== null) keptInTab.set(invitationName, invited)
    kept.set(signOutName, `${Date.now()}`)
    // A new page: nothing of what the user has seen stays in this one.
    location.replace('/')
  }
}

const signOutName = 'signedOutAt'

// In another tab: what is typed there from now on is for nobody.
if (!inFrame)
  addEventListener('storage', ({ key }) => {
    if (key === signOutName) hasEnded.value = true
  })
