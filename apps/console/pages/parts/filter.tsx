import type { RuleSummary } from '@automation/client'
import { useState } from 'preact/hooks'
import { may } from '../state/session.js'
import { Select } from './select.js'

interface Props {
  label: string
  /** As the address has it. '': all. */
  value: string
  set: (value: string) => void
  /** The shortcut `/` leads there. */
  isFirst?: boolean
}

/**
 * What a list shows, by a choice. The label stands in its control.
 *
 * @param all what is said if nothing is chosen
 */
export function ChoiceFilter({
  label,
  value,
  set,
  isFirst,
  options,
  all = 'any',
}: Props & { options: Readonly<Record<string, string>>; all?: string }) {
  const isKnown = value === '' || Object.hasOwn(options, value)
  return (
    <Select
      {...{ label, value, set, isFirst }}
      options={{ '': all, ...(!isKnown && { [value]: value }), ...options }}
    />
  )
}

/**
 * What a list shows, by a text: it looks for it once the field is left, or by Enter. An emptied field shows all at once. What is typed is kept
 * when the list is drawn anew meanwhile.
 */
export function TextFilter({
  label,
  value,
  set,
  isFirst,
  placeholder = 'any',
}: Props & { placeholder?: string }) {
  const [typed, setTyped] = useState({ since: value, text: value })
  const look = (text: string) => {
    setTyped({ since: text, text })
    if (text !== value) set(text)
  }
  const type = (text: string) => (text === '' ? look('') : setTyped({ since: value, text }))
  return (
    <label>
      {label}
      <input
        data-filter={isFirst}
        type="search"
        value={typed.since === value ? typed.text : value}
        maxLength={200}
        placeholder={placeholder}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onChange={({ currentTarget }) => look(currentTarget.value.trim())}
      />
    </label>
  )
}

/** One of the rules. One that was deleted is still named as such. */
export function RuleFilter({
  value,
  rules,
  nameOf,
  set,
}: Pick<Props, 'value' | 'set'> & { rules: readonly RuleSummary[]; nameOf: (id: string) => string }) {
  if (inFrame && !may('read all rules')) return null
  const names = Object.fromEntries(rules.map(({ id, name }) => [id, name]))
  const options = value === '' ? names : { [value]: nameOf(value), ...names }
  return <ChoiceFilter label="Rule" isFirst {...{ value, options, set }} />
}
