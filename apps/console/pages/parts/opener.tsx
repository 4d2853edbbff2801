import type { ComponentChildren } from 'preact'
import { asked } from '../state/asked.js'

interface Props {
  label: string
  /** For who does not see the row: "Change CRM". */
  title?: string | undefined
  look?: string
  /** What it opens, which closes itself. */
  children: ComponentChildren
}

/** A button that opens a dialog. */
export function Opener({ label, title, look = '', children }: Props) {
  const ask = () => {
    asked.value = children
  }
  return (
    <button type="button" class={look} aria-label={title} onClick={ask}>
      {label}
    </button>
  )
}
