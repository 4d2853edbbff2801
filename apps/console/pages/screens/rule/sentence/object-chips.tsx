import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type FlatObject, isFlat, renameEntry } from '../../../logic/editing/flat-object.js'
import { readScalar, writeScalar } from '../../../logic/value-kind.js'
import { Icon } from '../../../parts/icon.js'
import { RemoveButton } from '../../../parts/remove-button.js'
import { TemplateInput } from '../../../parts/template-input.js'
import { filterOptions, focusSoon, useEditing } from './editing.js'
import { useFault } from './faults.js'
import { JsonInput } from './json-input.js'
import { useTyped } from './use-typed.js'

interface Props {
  label: string
  path: string
  value: unknown
  /** Only texts can be values, so `80` is one. */
  hasTexts: boolean
  change: (value: unknown) => void
}

/** The fields of an object, a line each: `sku` `{{item.sku}}`. Everything else is JSON, also a placeholder that stands for all of it. */
export function ObjectChips({ label, path, value, hasTexts, change }: Props) {
  const { texts } = useEditing()
  const [isWanted, want] = useState(texts[path] !== undefined)
  const canBeLines =
    isFlat(value) && (!hasTexts || Object.values(value).every((one) => typeof one === 'string'))
  const toggle = canBeLines && texts[path] === undefined && (
    <button type="button" class="plain small" onClick={() => want(!isWanted)}>
      {isWanted ? 'As entries' : 'As JSON'}
    </button>
  )
  return (
    <div class="nested">
      {isWanted || !canBeLines ? (
        <>
          <JsonInput label={label} path={path} value={value} change={change} />
          <div class="row">{toggle}</div>
        </>
      ) : (
        <Entries {...{ label, path, value, hasTexts, change }}>{toggle}</Entries>
      )}
    </div>
  )
}

interface EntriesProps extends Props {
  value: FlatObject
  children: ComponentChildren
}

function Entries({ label, path, value, hasTexts, change, children }: EntriesProps) {
  const names = Object.keys(value)
  // What has no name yet is no part of the rule. An empty object begins with its first entry.
  const [isAdding, add] = useState(names.length === 0)
  const shown = isAdding ? [...names, undefined] : names
  const rename = (from: string | undefined, to: string) => {
    add(false)
    change(from === undefined ? { ...value, [to]: '' } : renameEntry(value, from, to))
  }
  const remove = (name: string | undefined) => {
    add(false)
    if (name !== undefined) change(Object.fromEntries(Object.entries(value).filter(([one]) => one !== name)))
  }
  return (
    <>
      {shown.map((name, index) => (
        <div key={index} class="chips">
          <NameInput
            name={name}
            label={`Name ${index + 1}: ${label}`}
            path={`${path}.name-${index}`}
            isTaken={(text) => names.includes(text) && text !== name}
            rename={(text) => rename(name, text)}
          />
          {name !== undefined && (
            <EntryInput
              label={name}
              path={`${path}.${name}`}
              value={value[name]}
              hasTexts={hasTexts}
              change={(next) => change({ ...value, [name]: next })}
            />
          )}
          <RemoveButton what={`${name ?? 'the new entry'}: ${label}`} remove={() => remove(name)} />
        </div>
      ))}
      <div class="row">
        <button
          type="button"
          class="plain small"
          aria-label={`Entry: ${label}`}
          onClick={() => {
            add(true)
            focusSoon(`${path}.name-${names.length}`)
          }}
        >
          <Icon name="plus" /> Entry
        </button>
        {children}
      </div>
    </>
  )
}

interface NameProps {
  name: string | undefined
  label: string
  path: string
  isTaken: (text: string) => boolean
  rename: (name: string) => void
}

/** A name that another field has is not taken over: it would replace that field. */
function NameInput({ name, label, path, isTaken, rename }: NameProps) {
  // What cannot be a name stands here only: the rule keeps the last name that could.
  const [typed, type] = useState<string>()
  const isFaulty = (text: string) => text === '' || isTaken(text)
  const text = typed !== undefined && isFaulty(typed) ? typed : (name ?? '')
  const fault = isTaken(text) ? 'There is one of this name.' : text === '' ? 'Needs a name.' : undefined
  return (
    <>
      <input
        type="text"
        class={`chip ${fault === undefined ? '' : text === '' ? 'empty-chip' : 'faulty-chip'}`}
        aria-label={label}
        aria-invalid={(fault !== undefined && text !== '') || undefined}
        data-path={path}
        placeholder="name"
        value={text}
        onInput={({ currentTarget: { value: next } }) => {
          type(next)
          if (!isFaulty(next)) rename(next)
        }}
        onBlur={() => type(undefined)}
      />
      {fault !== undefined && name !== undefined && <span class="sub bad">{fault}</span>}
    </>
  )
}

interface EntryProps {
  label: string
  path: string
  value: unknown
  hasTexts: boolean
  change: (value: unknown) => void
}

function EntryInput({ label, path, value, hasTexts, change }: EntryProps) {
  const { suggestions } = useEditing()
  const fault = useFault(path)
  const read = hasTexts ? String : readScalar
  const [text, setText] = useTyped(value, read, hasTexts ? String : writeScalar)
  return (
    <>
      <TemplateInput
        label={label}
        path={path}
        look={`chip value-chip ${text === '' ? 'empty-chip' : fault.look}`}
        placeholder="value"
        value={text}
        change={(next) => {
          setText(next)
          change(read(next))
        }}
        fields={suggestions.fields}
        filters={filterOptions}
        {...fault.own}
      />
      {fault.text}
    </>
  )
}
