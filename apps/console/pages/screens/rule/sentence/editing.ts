import { defaultWorkLimits, describeVocabulary } from '@automation/engine'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Option } from '../../../parts/combobox.js'
import type { Suggestions } from '../suggestions.js'

/** What every part of the sentence needs. */
export interface Editing {
  suggestions: Suggestions
  /** The next change removes something: it is said, with a way back. */
  removes: (what: string) => void
  /** Unfinished JSON, by the path of its field: it survives another tab and a reload. */
  texts: Readonly<Record<string, string>>
  keepText: (path: string, text: string | undefined) => void
}

export const EditingContext = createContext<Editing | undefined>(undefined)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (editing === undefined) throw new Error('A part of the sentence stands outside of it')
  return editing
}

export const vocabulary = describeVocabulary(defaultWorkLimits)

/** One that needs an argument ends with a colon. */
export const filterOptions: readonly Option[] = vocabulary.filters.map(({ name, description, example }) => ({
  value: example.template.includes(`${name}:`) ? `${name}:` : name,
  hint: description,
}))

/** Moves the focus to a field, once it is drawn. */
export function focusSoon(path: string): void {
  requestAnimationFrame(() => {
    const target = [...document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)].find(
      (element) => element.matches('input, select, textarea, button'),
    )
    target?.focus()
  })
}

/** Alt and an arrow move what has the focus up or down. */
export function stepOfKey({ altKey, key }: KeyboardEvent): -1 | 0 | 1 {
  if (!altKey) return 0
  return key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0
}
