import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isReachable } from '../state/connection.js'
import { Dialog } from './dialog.js'
import { stopAsking } from './question.js'
import { Loading, Unloaded } from './states.js'

type Import<Props> = () => Promise<ComponentType<Props>>
type Frame<Props> = (props: Props & { children: ComponentChildren }) => ComponentChildren

/**
 * A component that comes in a file of its own. Until the file is there, its frame says so; where it cannot be had, the frame says that, and it is
 * asked for again: by hand, and once the connection is back.
 *
 * @param what in "Loading …"
 * @param Framed what is drawn around the words meanwhile
 */
export function later<Props extends object>(
  what: string,
  load: Import<Props>,
  Framed: Frame<Props> = ({ children }) => children,
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
    const [hasFailed, setFailed] = useState(false)
    const [, redraw] = useState(0)
    const ask = () => {
      setFailed(false)
      fetch().then(
        () => redraw((count) => count + 1),
        async () => {
          if (!(await reloadOnce())) setFailed(true)
        },
      )
    }
    const isReady = Ready !== undefined
    useEffect(() => {
      // The file may have come since it was drawn without.
      if (!isReady) ask()
    }, [])
    useEffect(() => {
      if (!hasFailed) return
      addEventListener('online', ask)
      return () => removeEventListener('online', ask)
    }, [hasFailed])
    if (Ready) return <Ready {...props} />
    return (
      <Framed {...props}>{hasFailed ? <Unloaded retry={ask} /> : <Loading what={what} rows={6} />}</Framed>
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

/**
 * After a deployment the files of the older page are gone, and some browsers keep a file that failed: one reload brings the new ones. Drafts are
 * kept. Without a connection it would take away what is shown.
 *
 * @returns whether the page is about to go
 */
async function reloadOnce(): Promise<boolean> {
  if (sessionStorage.getItem('reloaded') === location.href || !(await isReachable())) return false
  sessionStorage.setItem('reloaded', location.href)
  location.reload()
  return true
}
