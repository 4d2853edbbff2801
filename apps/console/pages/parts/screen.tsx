import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus()
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

/** A list, and beside it (below it where there is little room) what is selected. */
export function Split({
  list,
  detail,
  selectedId,
}: {
  list: ComponentChildren
  detail?: ComponentChildren
  selectedId?: string | undefined
}) {
  const aside = useRef<HTMLElement>(null)
  const isOpen = Boolean(detail)
  useEffect(() => {
    // Where it stands above the list, it may be out of view.
    if (isOpen && matchMedia('(max-width: 74.99rem)').matches)
      aside.current?.scrollIntoView({ block: 'start' })
  }, [isOpen, selectedId])
  return (
    <div class={detail ? 'split open' : 'split'}>
      <div class="list">{list}</div>
      {detail && (
        <aside class="detail" ref={aside} aria-label="Details">
          {detail}
        </aside>
      )}
    </div>
  )
}
