import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'

interface Props {
  /** What it is, for who does not see where it lies: the name of its region. */
  label: string
  /** Of its button. */
  button: ComponentChildren
  /** The classes of its button, such as `plain icon-button small`. */
  look?: string
  /** The name of a button without words. */
  buttonLabel?: string
  /** On which edge of the button it lies. */
  edge?: 'start' | 'end'
  /** What is in it, from when it is open. `close` gives the focus back to the button. */
  children: (close: () => void) => ComponentChildren
}

/**
 * A small page above the page, at its button: for a form of a few fields. The browser places it, closes it by Escape or a click beside
 * it, and gives the focus back. The first control has the focus.
 */
export function Popover({ label, button, look = '', buttonLabel, edge = 'start', children }: Props) {
  const { id, element, isOpen, note, close } = usePopover('input, select, textarea, button, a')
  return (
    <>
      <button
        type="button"
        class={look}
        popovertarget={id}
        aria-label={buttonLabel}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
      >
        {button}
      </button>
      <div ref={element} id={id} popover="auto" role="dialog" aria-label={label} class={edge} onToggle={note}>
        {isOpen && children(close)}
      </div>
    </>
  )
}

/** @param first what gets the focus when it opens */
export function usePopover(first: string) {
  const id = useId()
  const element = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (isOpen) element.current?.querySelector<HTMLElement>(first)?.focus()
  }, [isOpen])
  return {
    id,
    element,
    isOpen,
    note: ({ newState }: { newState: string }) => setOpen(newState === 'open'),
    close: () => element.current?.hidePopover(),
  }
}
