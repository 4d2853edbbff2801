/** Parts of a screen, of which one is shown. They are in the address, so each can be linked to. */
export function Tabs({
  label,
  tabs,
  chosen,
  choose,
}: {
  label: string
  tabs: Record<string, string>
  chosen: string
  choose: (name: string) => void
}) {
  return (
    <fieldset class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([name, text]) => (
        <button key={name} type="button" aria-pressed={chosen === name} onClick={() => choose(name)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}
