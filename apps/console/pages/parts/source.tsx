import type { ComponentChildren } from 'preact'

/** A text that scrolls inside: it takes the focus, so that the arrow keys scroll it. */
export function Source({
  label,
  children,
  kind = '',
}: {
  label: string
  children: ComponentChildren
  kind?: string
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, nobody could scroll it by keyboard (WCAG 2.1.1)
    <section class={`source ${kind}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
