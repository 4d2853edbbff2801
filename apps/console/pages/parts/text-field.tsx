import type { JSX } from 'preact'

type Own = Omit<JSX.IntrinsicElements['input'], 'label' | 'onInput'>

/** A line of text under its label. What it takes beside the two is of its input. */
export function TextField({ label, set, ...own }: Own & { label: string; set: (typed: string) => void }) {
  return (
    <label>
      {label}
      <input {...own} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </label>
  )
}
