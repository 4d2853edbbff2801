import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Parts of a screen, of which one is shown. They are in the address, so each can be linked to. */
export function Tabs({
  label,
  tabs,
  chosen,
  choose,
  marks = {},
  children,
}: {
  label: string
  tabs: Record<string, string>
  chosen: string
  choose: (name: string) => void
  /** What waits in a part, by its name. */
  marks?: Record<string, string | undefined>
  /** Links to other screens that stand among them. */
  children?: ComponentChildren
}) {
  const list = useRef<HTMLFieldSetElement>(null)
  useLayoutEffect(() => {
    // Where they are too many for the screen they scroll sideways, and the page itself does not.
    const pressed = list.current?.querySelector<HTMLElement>('[aria-pressed="true"]')
    if (list.current && pressed) list.current.scrollLeft = pressed.offsetLeft - list.current.offsetLeft
  }, [chosen])
  return (
    <fieldset ref={list} class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([name, text]) => (
        <button key={name} type="button" aria-pressed={chosen === name} onClick={() => choose(name)}>
          {text}
          {marks[name] && <span class="dot" role="img" aria-label={marks[name]} title={marks[name]} />}
        </button>
      ))}
      {children}
    </fieldset>
  )
}
