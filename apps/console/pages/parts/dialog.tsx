import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { giveFocus } from '../state/kept-focus.js'
import { hasTyped } from '../state/typed.js'
import { Icon } from './icon.js'

/** What closes a dialog does as Escape does: it asks first where somebody has typed. */
export function leaveDialog({ currentTarget }: { currentTarget: HTMLElement }): void {
  const dialog = currentTarget.closest('dialog')
  if (dialog?.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close()
}

/** A native modal dialog: the browser keeps the focus inside, Escape closes it, and the focus goes back afterwards. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
  isLasting = false,
  asksFirst = true,
}: {
  title: string
  close: () => void
  children: ComponentChildren
  wide?: boolean
  /** It cannot be closed: what it asks for has to be done. */
  isLasting?: boolean
  /** Before it closes on what somebody has typed. */
  asksFirst?: boolean
}) {
  const [isAsking, ask] = useState(false)
  const titleId = useId()
  const element = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  useLayoutEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    dialog?.showModal()
    // By itself the browser would choose the button that closes it.
    dialog?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => {
      // The browser reports the close later, when another dialog may be open.
      isGone.current = true
      dialog?.close()
      // What opened it may be gone by now, together with what the dialog has deleted.
      const back =
        opener instanceof HTMLElement && opener.isConnected
          ? opener
          : document.querySelector<HTMLElement>('h1')
      giveFocus(back)
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-labelledby={titleId}
      onClose={() => !isGone.current && close()}
      onCancel={(event) => {
        const holds = asksFirst && hasTyped(element.current)
        if (isLasting || holds) event.preventDefault()
        ask(holds && !isLasting)
      }}
      // A second Escape would not ask.
      onKeyDown={(event) => (isLasting || isAsking) && event.key === 'Escape' && event.preventDefault()}
    >
      <div class="row spread">
        <h2 id={titleId}>{title}</h2>
        {!isLasting && (
          <button type="button" class="plain icon-button" aria-label="Close" onClick={leaveDialog}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {isAsking && <Discarding goOn={() => ask(false)} discard={close} />}
      {children}
    </dialog>
  )
}

/** It has the focus, which brings it into view, and gives it back to what somebody typed in. */
function Discarding({ goOn, discard }: { goOn: () => void; discard: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    button.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <div class="notice row" role="alert">
      Discard what you typed?
      <span class="row">
        <button ref={button} type="button" class="small" onClick={goOn}>
          Go on
        </button>
        <button type="button" class="small danger" onClick={discard}>
          Discard
        </button>
      </span>
    </div>
  )
}
