import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { giveFocus } from '../state/kept-focus.js'

/** A screen with its heading, its actions and its content. After a navigation the heading has the focus. */
export function Screen({
  title,
  actions,
  children,
  note,
}: {
  title: string
  actions?: ComponentChildren
  children: ComponentChildren
  note?: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Automation rules`
  }, [title])
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null)
      giveFocus(heading.current)
  }, [])
  return (
    <>
      <header class="screen-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {note && <p class="quiet">{note}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A list, and in a drawer beside it what is selected; on a narrow screen above its right side. */
export function Split({ list, detail }: { list: ComponentChildren; detail?: ComponentChildren }) {
  return (
    <div class="split">
      <div class="list">{list}</div>
      {detail && (
        <aside class="drawer detail" aria-label="Details">
          {detail}
        </aside>
      )}
    </div>
  )
}
