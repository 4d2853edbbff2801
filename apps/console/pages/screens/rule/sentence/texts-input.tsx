import { nameChoice } from '../../../logic/editing/action-words.js'
import type { FieldSchema } from '../../../logic/editing/schema-kind.js'
import { ChipInput } from './chip-input.js'
import type { useFault } from './faults.js'
import { useTyped } from './use-typed.js'

interface Props {
  schema: FieldSchema
  label: string
  path: string
  value: unknown
  example?: unknown
  change: (value: unknown) => void
  fault: ReturnType<typeof useFault>
}

/** A few words with commas between them: `approve, reject`. */
export function TextsInput({ path, value, change, label, example, fault }: Props) {
  const [text, setText] = useTyped(value, readTexts, writeTexts)
  return (
    <ChipInput
      {...{ label, path, fault }}
      isEmpty={text === ''}
      placeholder={writeTexts(example) || 'approve, reject'}
      value={text}
      change={(typed) => {
        setText(typed)
        change(readTexts(typed))
      }}
    />
  )
}

function readTexts(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function writeTexts(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : ''
}

/** Some of a few, each pressed or not. One of them stays. */
export function ChoicesControl({ schema, path, value, change, label }: Props) {
  const chosen = Array.isArray(value) ? value : []
  const toggle = (one: string) => {
    const next = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]
    if (next.length > 0) change(next)
  }
  return (
    <fieldset class="bare chips" aria-label={label} data-path={path}>
      {schema.items?.enum?.map((one) => (
        <button
          key={one}
          type="button"
          class={`chip ${chosen.includes(one) ? 'field-chip' : 'empty-chip'}`}
          aria-pressed={chosen.includes(one)}
          onClick={() => toggle(one)}
        >
          {nameChoice(one)}
        </button>
      ))}
    </fieldset>
  )
}
