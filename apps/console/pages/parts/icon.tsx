import sprite from '../icons.svg'
import type { IconName } from '../logic/icon-names.js'

/** A picture beside a word. It says nothing by itself: what has no word beside it has an `aria-label`. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" aria-hidden="true" focusable="false">
      <use href={`${sprite}#${name}`} />
    </svg>
  )
}
