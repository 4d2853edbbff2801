import { defaultWorkLimits, describeVocabulary } from '@automation/engine'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import { type Suggestions, suggestItems, suggestWithItem } from '../../../logic/editing/suggest-items.js'
import { afterDrawing } from '../../../parts/after-drawing.js'
import type { Option } from '../../../parts/combobox.js'

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

/** Within it paths begin at an item of a list. */
export function ItemScope({ list, children }: { list: string; children: ComponentChildren }) {
  const { suggestions } = useEditing()
  return (
    <Scope suggestions={useMemo(() => suggestItems(suggestions, list), [suggestions, list])}>
      {children}
    </Scope>
  )
}

/** Within it the placeholder `item` is an item of the list. */
export function TemplateScope({ list, children }: { list: string; children: ComponentChildren }) {
  const { suggestions } = useEditing()
  return (
    <Scope suggestions={useMemo(() => suggestWithItem(suggestions, list), [suggestions, list])}>
      {children}
    </Scope>
  )
}

/** Within it placeholders may also name these. */
export function PlaceholderScope({
  first,
  more,
  children,
}: {
  /** Offered before the fields of the event. */
  first: readonly Option[]
  more: readonly Option[]
  children: ComponentChildren
}) {
  const { suggestions } = useEditing()
  const extended = useMemo(
    () => ({ ...suggestions, fields: [...first, ...suggestions.fields, ...more] }),
    [suggestions, first, more],
  )
  return <Scope suggestions={extended}>{children}</Scope>
}

function Scope({ suggestions, children }: Pick<Editing, 'suggestions'> & { children: ComponentChildren }) {
  const editing = useEditing()
  return <EditingContext.Provider value={{ ...editing, suggestions }}>{children}</EditingContext.Provider>
}

export const vocabulary = describeVocabulary(defaultWorkLimits)

/** One that needs an argument ends with a colon. */
export const filterOptions: readonly Option[] = vocabulary.filters.map(({ name, description, example }) => ({
  value: example.template.includes(`${name}:`) ? `${name}:` : name,
  hint: description,
}))

/**
 * Moves the focus to a field, once it is drawn; if it has none of its own, to the first below it, or to the first control of that part. A field that is drawn later gets the focus with the
 * next frame, unless somebody has moved it meanwhile: a busy browser takes many keys between two frames.
 */
export function focusSoon(path: string): void {
  afterDrawing(() => {
    findField(path)?.focus()
    const { activeElement } = document
    requestAnimationFrame(() => {
      if (document.activeElement === activeElement || document.activeElement === document.body)
        findField(path)?.focus()
    })
  })
}

function findField(path: string): HTMLElement | undefined {
  const placed = [...document.querySelectorAll<HTMLElement>('[data-path]')]
  const fields = placed.filter((element) => element.matches(controls))
  const pathOf = ({ dataset }: HTMLElement) => dataset.path ?? ''
  const isBelow = (element: HTMLElement) =>
    pathOf(element).startsWith(`${path}.`) || pathOf(element).startsWith(`${path}[`)
  return (
    fields.find((element) => pathOf(element) === path) ??
    fields.find(isBelow) ??
    placed
      .find((element) => pathOf(element) === path && element.querySelector(controls))
      ?.querySelector<HTMLElement>(controls) ??
    undefined
  )
}

const controls = 'input, select, textarea, button'
