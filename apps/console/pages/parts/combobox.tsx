import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { rankChoices } from '../logic/rank.js'
import { Choices } from './choices.js'

export interface Option {
  value: string
  /** What is shown for it, if that is not the value itself. */
  text?: string
  /** What helps to choose: its kind, examples. */
  hint?: string
  /** It brings more options, and is none itself. */
  more?: () => void
}

interface Props {
  label: string
  path: string
  value: string
  options: readonly Option[]
  change: (value: string) => void
  placeholder?: string | undefined
  /** The classes of its field: as a chip it is as wide as what it says. */
  look?: string
  /** Only an option can be its value: what is typed looks for one. */
  isStrict?: boolean
  /** Enter takes the first option that fits what was typed. Without it, one has to be chosen by an arrow. */
  takesFirst?: boolean
  /** Something is read for the options from then on. */
  begin?: () => void
  /** An option was taken by Enter. */
  taken?: () => void
  /** The part of what was typed that looks for an option. */
  typedOf?: ((typed: string) => string) | undefined
  isInvalid?: boolean
  describedBy?: string | undefined
}

const mostShown = 8
const mostStrict = 60

/** A field with suggestions (the combobox of the ARIA practices). Anything may be typed, unless it is strict; the suggestions only help. */
export function Combobox(props: Props) {
  const { label, path, value, options, placeholder, look = '', isStrict = false } = props
  const id = useId()
  const { text, shown, chosen, isShown, take, handlers } = useChoosing(props)
  const active = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (isShown) active.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [isShown, chosen])
  return (
    <span class={`combobox ${look ? 'in-line' : ''}`} ref={active}>
      <input
        type="text"
        role="combobox"
        class={look}
        aria-label={label}
        aria-expanded={isShown}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={isShown && chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-invalid={props.isInvalid || undefined}
        aria-describedby={props.describedBy}
        data-path={path}
        placeholder={placeholder}
        size={Math.max(2, (text || placeholder || '').length)}
        spellcheck={false}
        autocomplete="off"
        title={isStrict ? (options.find((one) => one.value === value)?.hint ?? '') : undefined}
        value={text}
        {...handlers}
      />
      <Choices
        id={id}
        label={`Suggestions: ${label}`}
        items={isShown ? shown : []}
        chosen={chosen}
        isHidden={!isShown}
        choose={take}
      >
        {(option) => (
          <>
            <span>{textOf(option)}</span> <span class="quiet cut">{option.hint}</span>
          </>
        )}
      </Choices>
    </span>
  )
}

/** What is typed, which options fit it, and which of them is chosen. */
function useChoosing(props: Props) {
  const { value, options, change, isStrict = false, takesFirst = isStrict, begin, taken } = props
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState(-1)
  // What looks for an option; undefined until something is typed.
  const [typed, type] = useState<string>()
  const current = isStrict ? options.find((one) => one.value === value) : undefined
  const text = isStrict ? (typed ?? (current ? textOf(current) : value)) : value
  const shown = rankOptions(options, typed === undefined ? '' : (props.typedOf?.(typed) ?? typed)).slice(
    0,
    isStrict ? mostStrict : mostShown,
  )
  const isExact = shown.length === 1 && shown[0]?.value === value && typed !== undefined && !isStrict
  const isShown = isOpen && shown.length > 0 && !isExact
  const close = () => {
    setOpen(false)
    choose(-1)
    type(undefined)
  }
  const take = (option: Option | undefined) => {
    if (option?.more) {
      type(undefined)
      return option.more()
    }
    if (option && option.value !== value) change(option.value)
    close()
  }
  const open = () => {
    setOpen(true)
    choose(isStrict ? shown.findIndex((one) => one.value === value) : -1)
  }
  const handlers = {
    onFocus: (event: { currentTarget: HTMLInputElement }) => {
      begin?.()
      if (isStrict) event.currentTarget.select()
    },
    onClick: () => !isOpen && open(),
    onBlur: () => (isStrict && isOpen && typed ? take(shown[chosen]) : close()),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      const next = currentTarget.value
      if (!isStrict) change(next)
      type(next)
      setOpen(true)
      choose(takesFirst && next.trim() !== '' ? 0 : -1)
    },
    onKeyDown: (event: KeyboardEvent) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      if (step !== 0 && !event.altKey && shown.length > 0) {
        event.preventDefault()
        if (isShown) choose((chosen + step + shown.length) % shown.length)
        else if (isStrict) open()
        else {
          setOpen(true)
          choose(0)
        }
      } else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
        if (isShown && chosen >= 0) {
          event.preventDefault()
          take(shown[chosen])
        } else close()
        taken?.()
      } else if (event.key === 'Escape' && isShown) {
        event.preventDefault()
        event.stopPropagation()
        close()
      }
    },
  }
  return { text, shown, chosen, isShown, take, handlers }
}

function textOf({ text, value }: Option): string {
  return text ?? value
}

/** The options that fit what was typed; one that is the same comes first. */
function rankOptions(options: readonly Option[], typed: string): Option[] {
  const wanted = typed.trim().toLowerCase()
  const found = rankChoices(
    options.map((option) => ({
      option,
      label: textOf(option),
      words: option.text ? option.value.replaceAll('_', ' ') : '',
    })),
    typed,
  ).map(({ option }) => option)
  const same = found.findIndex((option) => textOf(option).toLowerCase() === wanted)
  return same > 0 ? [...found.splice(same, 1), ...found] : found
}
