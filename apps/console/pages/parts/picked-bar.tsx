import type { ComponentChildren } from 'preact'
import { countOf } from '../logic/count-words.js'

interface Props {
  count: number
  /** One of them, such as `event`. */
  one: string
  clear: () => void
  children: ComponentChildren
}

/** What can be done with the rows that were chosen. It lies over the page, so that no row moves. */
export function PickedBar({ count, one, clear, children }: Props) {
  if (count === 0) return null
  return (
    <div class="picked" role="toolbar" aria-label={`With the chosen ${one}s`}>
      <strong role="status">{countOf(count, one)} chosen</strong>
      {children}
      <button type="button" class="plain" onClick={clear}>
        Clear
      </button>
    </div>
  )
}
