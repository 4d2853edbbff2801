import type { JSX } from 'preact'
import type { useFault } from './faults.js'

interface Props extends Omit<JSX.IntrinsicElements['input'], 'onInput'> {
  label: string
  path: string
  fault: Pick<ReturnType<typeof useFault>, 'own' | 'look'>
  /** Nothing is filled in yet. */
  isEmpty?: boolean
  /** What is typed cannot stay, and is no fault of the rule yet. */
  isFaulty?: boolean
  /** More classes. */
  look?: string
  change: (typed: string) => void
}

/** A chip into which a number or a short text is typed. */
export function ChipInput({
  label,
  path,
  fault,
  isEmpty = false,
  isFaulty = false,
  look = 'value-chip',
  change,
  ...own
}: Props) {
  return (
    <input
      type="text"
      spellcheck={false}
      autocomplete="off"
      {...own}
      class={`chip ${look} ${isFaulty ? 'faulty-chip' : isEmpty ? 'empty-chip' : fault.look}`}
      aria-label={label}
      aria-invalid={isFaulty || fault.own.isInvalid || undefined}
      aria-describedby={fault.own.describedBy}
      data-path={path}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
