import { useId, useState } from 'preact/hooks'
import { rankChoices } from '../logic/rank.js'
import { Choices } from './choices.js'

export interface Option {
  value: string
  /** What helps to choose: its kind, examples. */
  hint?: string
}

interface Props {
  label: string
  path: string
  value: string
  options: readonly Option[]
  change: (value: string) => void
  placeholder?: string
  /** Something is read for the options from then on. */
  begin?: () => void
}

const mostShown = 8

/** A field with suggestions (the combobox of the ARIA practices). Anything may be typed; the suggestions only help. */
export function Combobox({ label, path, value, options, change, placeholder, begin }: Props) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState(-1)
  const found = rankChoices(
    options.map((option) => ({ ...option, label: option.value })),
    value,
  ).slice(0, mostShown)
  const isExact = found.length === 1 && found[0]?.value === value
  const isShown = isOpen && found.length > 0 && !isExact
  const take = (option: Option | undefined) => {
    if (option) change(option.value)
    setOpen(false)
    choose(-1)
  }
  function handleKey(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && !event.altKey && found.length > 0) {
      event.preventDefault()
      setOpen(true)
      choose(isShown ? (chosen + step + found.length) % found.length : 0)
    } else if (event.key === 'Enter' && isShown && chosen >= 0) {
      event.preventDefault()
      take(found[chosen])
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault()
      event.stopPropagation()
      setOpen(false)
    }
  }
  return (
    <span class="combobox">
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={isShown}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={isShown && chosen >= 0 ? `${id}-${chosen}` : undefined}
        data-path={path}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onFocus={begin}
        onBlur={() => setOpen(false)}
        onInput={({ currentTarget }) => {
          change(currentTarget.value)
          setOpen(true)
          choose(-1)
        }}
        onKeyDown={handleKey}
      />
      <Choices
        id={id}
        label={`Suggestions: ${label}`}
        items={isShown ? found : []}
        chosen={chosen}
        isHidden={!isShown}
        choose={take}
      >
        {({ value: one, hint }) => (
          <>
            <span>{one}</span> <span class="quiet cut">{hint}</span>
          </>
        )}
      </Choices>
    </span>
  )
}
