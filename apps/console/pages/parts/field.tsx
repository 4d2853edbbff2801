import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface Props {
  label: string
  /** Below the control. */
  hint?: ComponentChildren
  /** What is wrong with what it has. It is read out, and takes the place of the hint. */
  fault?: string | undefined
  /** The control, which takes what it is given: `(own) => <input {...own} value={…} />` */
  children: (own: Own) => ComponentChildren
}

interface Own {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: 'true'
}

/** A control with its label above, and below it a hint or what is wrong. */
export function Field({ label, hint, fault, children }: Props) {
  const id = useId()
  const isDescribed = Boolean(fault ?? hint)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(isDescribed && { 'aria-describedby': `${id}-note` }),
        ...(fault !== undefined && { 'aria-invalid': 'true' as const }),
      })}
      {isDescribed && (
        <span id={`${id}-note`} class={fault ? 'sub bad' : 'sub'} role={fault ? 'alert' : undefined}>
          {fault ?? hint}
        </span>
      )}
    </div>
  )
}
