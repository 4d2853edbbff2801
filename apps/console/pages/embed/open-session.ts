import { ApiError, createClient } from '@automation/client'
import { batch, effect, signal } from '@preact/signals'
import { applyAppearance } from '../state/appearance.js'
import { asked } from '../state/asked.js'
import { kept, keptInTab } from '../state/browser-store.js'
import { frame } from '../state/frame.js'
import { host, type Said } from '../state/host.js'
import { api, hasEnded, me, startProblem, workspaceId } from '../state/session.js'
import { toast, toasts } from '../state/toasts.js'
import { describeError, queries } from '../state/use-query.js'

/** It asks without a token, and without a cookie. */
const nobody = createClient({
  baseUrl: '',
  retries: 0,
  timeoutMs: 20_000,
  fetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
})

/** Why there is no session, of those that a new one of the host ends. */
export const needed = signal<Said['session-needed']['reason'] | undefined>(undefined)

/** The id of the session in the address of a frame. */
export function sessionOf(path: string): string {
  return path.split('/')[2] ?? ''
}

/** Of this page, until it is known whether it is worth anything. */
let link: { id: string; secret: string } | undefined

/**
 * Exchanges the secret behind the `#` for the token, and takes it out of the address: the link works once. After a reload there is none, and the
 * host has to hand a new one over; who it may be is asked of the API.
 */
export async function begin(): Promise<void> {
  const { pathname, search, hash } = location
  link = { id: sessionOf(pathname), secret: hash.slice(1) }
  history.replaceState(null, '', pathname + search)
  await goOn()
}

/** Also once more, where the service was away. */
export async function goOn(): Promise<void> {
  if (link === undefined) return readMe()
  const { id, secret } = link
  if (secret !== '' && (await exchange(id, secret))) return
  host.allow(await readOrigins(id))
  need(secret === '' ? 'none' : 'used')
}

/** A new link of the host. @param url of this console. @param origin of the host that hands it over, which the new session must allow */
export async function handOver(url: unknown, origin: string): Promise<void> {
  const {
    pathname,
    hash,
    origin: own,
  } = URL.canParse(String(url)) ? new URL(String(url)) : new URL('about:blank')
  if (own !== location.origin || !/^\/embed\/[0-9a-f-]{36}$/i.test(pathname) || hash.length < 2)
    return host.say('error', { message: 'The url of the session is none of this console' })
  if (!(await exchange(sessionOf(pathname), hash.slice(1), origin))) need('used')
}

/** @returns false: the link is worth nothing */
async function exchange(id: string, secret: string, origin?: string): Promise<boolean> {
  startProblem.value = undefined
  try {
    const {
      token,
      workspaceId: workspace,
      origins,
      ...grant
    } = await nobody.developer.embedSessions.open(id, secret)
    link = undefined
    if (origin !== undefined && !origins.includes(origin)) {
      // Another link would be worth as little: a host that is asked for one makes sessions without an end.
      host.say('error', { message: `${origin} is none of the origins that may frame the new session` })
      return true
    }
    const before = frame.peek()?.grant.user.id
    const isSame = before === grant.user.id && workspaceId.peek() === workspace
    applyAppearance(grant)
    batch(() => {
      if (before !== undefined && !isSame) forget()
      frame.value = { id, token, grant }
      workspaceId.value = workspace
      if (isSame && needed.peek() !== undefined) toast('Your session goes on')
      needed.value = undefined
      hasEnded.value = false
    })
    host.allow(origins)
    await readMe()
    if (isSame) await queries.invalidateQueries()
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 422)) return false
    fail(error)
  }
  return true
}

async function readMe(): Promise<void> {
  startProblem.value = undefined
  try {
    me.value = await api().me()
  } catch (error) {
    fail(error)
  }
}

/** What somebody has typed stays where a new session cannot be had. */
function fail(error: unknown): void {
  const { title, text } = describeError(error)
  host.say('error', {
    message: `${title}. ${text}`,
    ...(error instanceof ApiError && { status: error.status }),
  })
  if (me.peek() === undefined) startProblem.value = error
}

/** Nothing of what another user has seen or typed stays in the page. */
function forget(): void {
  kept.clear()
  keptInTab.clear()
  queries.clear()
  me.value = undefined
  asked.value = undefined
  toasts.value = []
}

async function readOrigins(id: string): Promise<readonly string[]> {
  try {
    return (await nobody.developer.embedSessions.frame(id)).origins
  } catch {
    return []
  }
}

function need(reason: Said['session-needed']['reason']): void {
  needed.value = reason
  host.say('session-needed', { reason })
}

// Whatever was asked last has noticed it. What is typed stays.
effect(() => {
  if (!hasEnded.value) return
  const { expiresAt = '' } = frame.peek()?.grant ?? {}
  need(Date.parse(expiresAt) <= Date.now() ? 'expired' : 'ended')
})
