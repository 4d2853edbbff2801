import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A native modal dialog: the browser keeps the focus inside, Escape closes it, and the focus goes back afterwards. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
}: {
  title: string
  close: () => void
  children: ComponentChildren
  wide?: boolean
}) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    dialog?.showModal()
    // By itself the browser would choose the button that closes it.
    dialog?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={wide ? 'wide' : ''} aria-labelledby="dialog-title" onClose={close}>
      <div class="row spread">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          ✕
        </button>
      </div>
      {children}
    </dialog>
  )
}
