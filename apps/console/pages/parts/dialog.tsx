import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'

/** A native modal dialog: the browser keeps the focus inside, Escape closes it, and the focus goes back afterwards. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
  isLasting = false,
}: {
  title: string
  close: () => void
  children: ComponentChildren
  wide?: boolean
  /** It cannot be closed: what it asks for has to be done. */
  isLasting?: boolean
}) {
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
      const back = opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector('h1')
      back?.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={wide ? 'wide' : ''}
      aria-labelledby={titleId}
      onClose={() => !isGone.current && close()}
      onCancel={(event) => isLasting && event.preventDefault()}
      // A second Escape would not ask.
      onKeyDown={(event) => isLasting && event.key === 'Escape' && event.preventDefault()}
    >
      <div class="row spread">
        <h2 id={titleId}>{title}</h2>
        {!isLasting && (
          <button type="button" class="plain icon-button" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}
