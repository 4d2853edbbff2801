import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { keptInTab } from '../state/browser-store.js'
import { isReachable } from '../state/connection.js'
import { wouldLoseTyped } from '../state/typed.js'
import { Dialog } from './dialog.js'
import { stopAsking } from './question.js'
import { Loading, type Trouble, Unloaded } from './states.js'

type Import<Props> = () => Promise<ComponentType<Props>>
type Frame<Props> = (props: Props & { children: ComponentChildren }) => ComponentChildren

/** How long (ms) a file may take until the page says so. */
const longestWaitMs = 20_000

/**
 * A component that comes in a file of its own. Until the file is there, its frame says so; where it cannot be had, the frame says that, and it is
 * asked for again: by hand, and once the connection is back. One that comes late is drawn all the same.
 *
 * @param what in "Loading …"
 * @param Framed what is drawn around the words meanwhile; null: nothing, and no word where it cannot be had, since nothing waits for it
 */
export function later<Props extends object>(
  what: string,
  load: Import<Props>,
  Framed: Frame<Props> | null = ({ children }) => children,
): ComponentType<Props> & { fetch(): Promise<void> } {
  let Ready: ComponentType<Props> | undefined
  let loading: Promise<void> | undefined
  const fetch = () => {
    loading ??= load().then(
      (component) => {
        Ready = component
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  function Later(props: Props) {
    const [trouble, setTrouble] = useState<Trouble>()
    const [, redraw] = useState(0)
    const ask = () => {
      setTrouble(undefined)
      const slow = setTimeout(() => setTrouble('slow'), longestWaitMs)
      fetch()
        .then(
          () => redraw((count) => count + 1),
          async () => setTrouble(Framed === null ? 'failed' : await reload()),
        )
        .finally(() => clearTimeout(slow))
    }
    const askAgain = async () => {
      // As long as a file is on its way, the browser asks for it once only.
      const left = trouble === 'slow' ? await reload() : undefined
      if (left === 'typed') setTrouble(left)
      else ask()
    }
    const isReady = Ready !== undefined
    useEffect(() => {
      // The file may have come since it was drawn without.
      if (!isReady) ask()
    }, [])
    useEffect(() => {
      if (trouble === undefined) return
      addEventListener('online', ask)
      return () => removeEventListener('online', ask)
    }, [trouble])
    if (Ready) return <Ready {...props} />
    if (Framed === null) return null
    return (
      <Framed {...props}>
        {trouble ? (
          <Unloaded trouble={trouble} retry={() => void askAgain()} />
        ) : (
          <Loading what={what} rows={6} />
        )}
      </Framed>
    )
  }
  return Object.assign(Later, { fetch })
}

/** A dialog that comes in a file of its own. @param title that of the dialog */
export function laterDialog<Props extends object>(
  title: string | ((props: Props) => string),
  load: Import<Props>,
) {
  return later<Props>(
    'the dialog',
    load,
    (props: Props & { close?: () => void; children: ComponentChildren }) => (
      <Dialog title={typeof title === 'string' ? title : title(props)} close={props.close ?? stopAsking}>
        {props.children}
      </Dialog>
    ),
  )
}

/** How long (ms) a page that was loaded anew is not loaded anew again: what is still missing then would be missing each time. */
const restMs = 60_000

/**
 * After a deployment the files of the older page are gone, and some browsers keep a file that failed: a reload brings the new ones. Changes of rules
 * are kept. Without a connection it would take away what is shown.
 *
 * @returns what is left to say, if the page stays
 */
async function reload(): Promise<'failed' | 'typed' | undefined> {
  const sinceMs = Date.now() - Number(keptInTab.get('reloadedAt') ?? 0)
  if ((sinceMs >= 0 && sinceMs < restMs) || !(await isReachable())) return 'failed'
  if (wouldLoseTyped()) return 'typed'
  // A browser that keeps no time would load the page again and again.
  if (!keptInTab.set('reloadedAt', `${Date.now()}`)) return 'failed'
  location.reload()
  return undefined
}
