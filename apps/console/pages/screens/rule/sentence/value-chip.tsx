import { useEffect, useState } from 'preact/hooks'
import { isReference, type Reference } from '../../../logic/editing/condition-kinds.js'
import { show } from '../../../logic/show.js'
import {
  readList,
  readNumber,
  readScalar,
  type ValueKind,
  writeList,
  writeScalar,
} from '../../../logic/value-kind.js'
import { Combobox } from '../../../parts/combobox.js'
import { useEditing } from './editing.js'
import { useFault } from './faults.js'

export function emptyValue(kind: ValueKind): unknown {
  if (kind === 'range') return [null, null]
  if (kind === 'list') return []
  if (kind === 'number') return null
  return kind === 'text' ? '' : undefined
}

interface Props {
  kind: ValueKind
  value: unknown
  path: string
  /** A value of the comparison, for who has none yet. */
  example: unknown
  /** Values that events had there. */
  seen: readonly unknown[]
  change: (value: unknown) => void
}

/** The value of a comparison, typed as its kind is written. */
export function ValueChip({ kind, value, path, example, seen, change }: Props) {
  const fault = useFault(path)
  const shared = { path, fault }
  if (kind === 'none') return null
  if (isReference(value)) return <ReferenceChip {...shared} value={value} change={change} />
  if (kind === 'range') {
    const [low = null, high = null] = Array.isArray(value) ? (value as unknown[]) : []
    return (
      <>
        <NumberChip label="From" {...shared} value={low} change={(next) => change([next, high])} />
        <span>and</span>
        <NumberChip label="To" {...shared} value={high} change={(next) => change([low, next])} />
        {fault.text}
      </>
    )
  }
  if (kind === 'number')
    return (
      <>
        <NumberChip label="Value" {...shared} value={value} change={change} />
        {fault.text}
      </>
    )
  const way = ways[kind]
  return (
    <>
      <TypedChip
        {...shared}
        {...way}
        value={value}
        placeholder={
          kind === 'scalar'
            ? 'value'
            : Array.isArray(example)
              ? writeList(example)
              : show(example).replaceAll('"', '')
        }
        options={kind === 'text' ? seen.filter((one) => typeof one === 'string') : seen.map(writeScalar)}
        change={change}
      />
      {fault.text}
    </>
  )
}

const ways = {
  list: { label: 'Values, separated by commas', read: readList, write: writeList, isList: true },
  text: { label: 'Value', read: (text: string): unknown => text, write: String, isList: false },
  scalar: { label: 'Value', read: readScalar, write: writeScalar, isList: false },
}

type ReferenceProps = Omit<ChipProps, 'label'> & { value: Reference }

/** Another field of the event, in place of a constant. */
function ReferenceChip({ path, fault, value, change }: ReferenceProps) {
  const { suggestions } = useEditing()
  const [[key, field] = ['field', '']] = Object.entries(value)
  return (
    <>
      <Combobox
        label="Other field"
        path={path}
        look={`chip field-chip ${fault.look}`}
        value={field}
        options={suggestions.fields}
        change={(next) => change({ [key]: next })}
        takesFirst
        isInvalid={fault.isInvalid}
        describedBy={fault.describedBy}
      />
      {fault.text}
    </>
  )
}

interface ChipProps {
  label: string
  path: string
  fault: ReturnType<typeof useFault>
  value: unknown
  change: (value: unknown) => void
}

export function NumberChip({ label, path, fault, value, change }: ChipProps) {
  const isFilled = typeof value === 'number' || (typeof value === 'string' && value !== '')
  return (
    <input
      type="number"
      step="any"
      class={`chip value-chip ${isFilled ? fault.look : 'empty-chip'}`}
      placeholder="number"
      aria-label={label}
      aria-invalid={fault.isInvalid || undefined}
      aria-describedby={fault.describedBy}
      data-path={path}
      value={isFilled ? (value as string) : ''}
      onInput={({ currentTarget: { value: text } }) => change(text === '' ? null : readNumber(text))}
    />
  )
}

interface TypedProps extends ChipProps {
  read: (text: string) => unknown
  write: (value: unknown) => string
  isList: boolean
  placeholder: string
  options: readonly string[]
}

/** Keeps the text as it is typed: `1.` is on its way to `1.5`. */
function TypedChip({
  label,
  path,
  fault,
  value,
  read,
  write,
  isList,
  placeholder,
  options,
  change,
}: TypedProps) {
  const [text, setText] = useState(write(value ?? ''))
  const isOther = JSON.stringify(read(text)) !== JSON.stringify(value ?? '')
  useEffect(() => {
    if (isOther) setText(write(value ?? ''))
  }, [isOther])
  const [head, last] = splitList(text, isList)
  return (
    <Combobox
      label={label}
      path={path}
      look={`chip value-chip ${text === '' ? 'empty-chip' : fault.look}`}
      placeholder={placeholder}
      value={text}
      // Of a list the last value is completed.
      options={options
        .filter((one) => !head.includes(one))
        .map((option) => ({ value: head + option, text: option }))}
      typedOf={isList ? () => last.trim() : undefined}
      change={(next) => {
        setText(next)
        change(read(next))
      }}
      isInvalid={fault.isInvalid}
      describedBy={fault.describedBy}
    />
  )
}

/** The values before the last comma, and what is typed behind it. */
function splitList(text: string, isList: boolean): [string, string] {
  const comma = isList ? text.lastIndexOf(',') : -1
  return comma === -1 ? ['', text] : [`${text.slice(0, comma + 1)} `, text.slice(comma + 1)]
}
