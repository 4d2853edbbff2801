import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'

/** The head of a drawer. It has the focus once somebody has opened the drawer; Escape closes it, and leads back to the row. */
export function DetailHead({ title, what, close }: { title: string; what: string; close: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // On a page that has just been loaded the heading of the screen has it.
    if (document.activeElement?.closest('.rows')) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div class="row spread">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <button type="button" class="plain icon-button" data-close aria-label={`Close ${what}`} onClick={close}>
        <Icon name="close" />
      </button>
    </div>
  )
}
