import type { ComponentChildren } from 'preact'

interface Props<Name extends string> {
  label: ComponentChildren
  value: Name | ''
  /** Names, and what they say. */
  options: Readonly<Partial<Record<Name, ComponentChildren>>>
  set: (name: Name) => void
  /** The place says what it is; who does not see it hears it. */
  isLabelHidden?: boolean
  /** Of the label. */
  look?: string
  /** The shortcut `/` leads there. */
  isFirst?: boolean | undefined
}

/** One of a few, under its label. */
export function Select<Name extends string>({
  label,
  value,
  options,
  set,
  isLabelHidden = false,
  look = '',
  isFirst,
}: Props<Name>) {
  return (
    <label class={look}>
      {isLabelHidden ? <span class="hidden">{label}</span> : label}
      <select
        data-filter={isFirst}
        value={value}
        onChange={({ currentTarget }) => set(currentTarget.value as Name)}
      >
        {Object.entries(options).map(([name, text]) => (
          <option key={name} value={name}>
            {text as ComponentChildren}
          </option>
        ))}
      </select>
    </label>
  )
}
