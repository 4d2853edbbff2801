import { useId, useRef, useState } from 'preact/hooks'
import { type Completion, findCompletion, takeCompletion } from '../logic/editing/complete-placeholder.js'
import { rankChoices } from '../logic/rank.js'
import { afterDrawing } from './after-drawing.js'
import { Choices } from './choices.js'
import type { Option } from './combobox.js'

interface Props {
  label: string
  path: string
  value: string
  change: (value: string) => void
  /** What can stand in a placeholder: fields of the event after `{{`, filters after a bar. */
  fields: readonly Option[]
  filters: readonly Option[]
  /** Classes of the field. */
  look?: string
  placeholder?: string | undefined
  /** Of a text of several lines. */
  rows?: number | undefined
  isInvalid?: boolean
  describedBy?: string | undefined
  /** Its text is not the value yet, so the browser undoes what is typed. */
  hasOwnUndo?: boolean
}

const mostShown = 8

/** A text that takes placeholders: after `{{` it offers the fields of the event. Enter takes the chosen one, and everything else is typed. */
export function TemplateInput(props: Props) {
  const { label, path, value, change, look = '', placeholder, rows, hasOwnUndo } = props
  const id = useId()
  const element = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  const [completion, setCompletion] = useState<Completion>()
  const [chosen, choose] = useState(0)
  const options = completion === undefined ? [] : completion.of === 'field' ? props.fields : props.filters
  const found = rankChoices(
    options.map((option) => ({ ...option, label: option.value })),
    completion?.typed ?? '',
  ).slice(0, mostShown)
  const isShown = found.length > 0

  function findChoices(target: HTMLInputElement | HTMLTextAreaElement): void {
    setCompletion(findCompletion(target.value, target.selectionStart ?? 0))
    choose(0)
  }
  function take(option: Option): void {
    if (completion === undefined) return
    const { text, caret } = takeCompletion(value, completion, option.value)
    change(text)
    setCompletion(undefined)
    afterDrawing(() => element.current?.setSelectionRange(caret, caret))
  }
  function handleKey(event: KeyboardEvent): void {
    if (!isShown) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) choose((chosen + step + found.length) % found.length)
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) take(found[chosen] as Option)
    else if (event.key === 'Escape') setCompletion(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const shared = {
    ref: element,
    'aria-label': label,
    'aria-autocomplete': 'list',
    'aria-controls': id,
    'aria-activedescendant': isShown ? `${id}-${chosen}` : undefined,
    'aria-invalid': props.isInvalid || undefined,
    'aria-describedby': props.describedBy,
    'data-path': path,
    'data-own-undo': hasOwnUndo,
    class: look,
    placeholder,
    spellcheck: false,
    autocomplete: 'off',
    value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      change(currentTarget.value)
      findChoices(currentTarget)
    },
    onKeyDown: handleKey,
    onBlur: () => setCompletion(undefined),
  } as const
  return (
    <span class={`combobox ${look ? 'in-line' : ''}`}>
      {rows === undefined ? (
        <input type="text" size={Math.max(4, (value || placeholder || '').length)} {...shared} />
      ) : (
        <textarea rows={rows} {...shared} />
      )}
      <Choices
        id={id}
        label={completion?.of === 'filter' ? 'Filters' : 'Fields of the event'}
        items={found}
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
