interface Props<Name extends string> {
  label: string
  /** Names, and what they say. */
  options: Record<Name, string>
  chosen: Name
  choose: (name: Name) => void
}

/** One of a few, all of which are seen: units, all or any, modes. Parts of a screen are Tabs. */
export function Segments<Name extends string>({ label, options, chosen, choose }: Props<Name>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {(Object.entries(options) as [Name, string][]).map(([name, text]) => (
        <button key={name} type="button" aria-pressed={chosen === name} onClick={() => choose(name)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}
