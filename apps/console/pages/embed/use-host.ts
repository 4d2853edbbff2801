import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { frame } from '../state/frame.js'
import { type Heard, host } from '../state/host.js'
import { openForm } from '../state/open-form.js'
import { theme } from '../state/preferences.js'
import { me } from '../state/session.js'
import { base } from '../state/use-filters.js'
import { handOver } from './open-session.js'

/** Says to the host where the page is, and does what the host asks for. */
export function useHost(): void {
  const { url, route } = useLocation()
  const length = useRef(history.length)
  const hear = useRef((_message: Heard, _origin: string) => {})
  hear.current = (message, origin) => {
    const { type, path, url, colorScheme } = message
    if (type === 'open') open(path, route)
    else if (type === 'session') void handOver(url, origin)
    else if (type === 'save' || type === 'discard') act(type)
    else if (type === 'hello' || type === 'colorScheme') show(colorScheme)
  }
  useEffect(() => host.listen((message, origin) => hear.current(message, origin)), [])
  const isReady = frame.value !== undefined && Boolean(me.value)
  const path = isReady ? pathOf(url) : undefined
  useEffect(() => {
    if (path !== undefined) host.say('ready', { path })
  }, [path !== undefined])
  useEffect(() => {
    const isNew = history.length > length.current
    length.current = history.length
    if (path !== undefined) host.say('path', { path, ...(!isNew && { replace: true as const }) })
  }, [path])
}

/** Below the session, such as `rules/0198…?tab=history`. */
function pathOf(url: string): string {
  return url.startsWith(`${base()}/`) ? url.slice(base().length + 1) : ''
}

function open(path: unknown, route: (url: string) => void): void {
  const root = `${base()}/`
  const target = URL.parse(String(path).replace(/^\/+/, ''), location.origin + root)
  if (target?.origin === location.origin && target.pathname.startsWith(root))
    route(target.pathname + target.search)
  else host.say('error', { message: 'The path is none of the session' })
}

function act(type: 'save' | 'discard'): void {
  const form = openForm.peek()
  if (form === undefined) host.say('error', { message: 'No form is open' })
  else if (!form.isDirty) host.say('dirty', { isDirty: false })
  else void form[type]()
}

function show(colorScheme: unknown): void {
  if (colorScheme === 'light' || colorScheme === 'dark') theme.value = colorScheme
  else if (colorScheme === 'auto') theme.value = 'system'
}
