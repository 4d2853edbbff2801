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
import { Icon } from '../../../parts/icon.js'
import { Menu } from '../../../parts/menu.js'
import { ChipInput } from './chip-input.js'
import { focusSoon, useEditing } from './editing.js'
import { useFault } from './faults.js'
import { useTyped } from './use-typed.js'

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
  /** It may be another field, in place of a constant. */
  comparesFields: boolean
  change: (value: unknown) => void
}

/** The value of a comparison, typed as its kind is written, or another field. */
export function ValueChip(props: Props) {
  const { kind, value, path, comparesFields, change } = props
  const fault = useFault(path)
  if (kind === 'none') return null
  const isOther = isReference(value)
  return (
    <>
      {isOther ? <ReferenceChip {...{ path, value, change }} /> : <Constant {...props} fault={fault} />}
      {(isOther || comparesFields) && <SourceMenu {...{ kind, path, value, change }} />}
      {fault.text}
    </>
  )
}

function Constant({ kind, value, path, example, seen, change, fault }: Props & Pick<ChipProps, 'fault'>) {
  const shared = { path, fault }
  if (kind === 'none') return null
  if (kind === 'range') {
    const [low = null, high = null] = Array.isArray(value) ? (value as unknown[]) : []
    return (
      <>
        <NumberChip label="From" {...shared} value={low} change={(next) => change([next, high])} />
        <span>and</span>
        <NumberChip label="To" {...shared} value={high} change={(next) => change([low, next])} />
      </>
    )
  }
  if (kind === 'number') return <NumberChip label="Value" {...shared} value={value} change={change} />
  return (
    <TypedChip
      {...shared}
      {...ways[kind]}
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
  )
}

const ways = {
  list: { label: 'Values, separated by commas', read: readList, write: writeList, isList: true },
  text: { label: 'Value', read: (text: string): unknown => text, write: String, isList: false },
  scalar: { label: 'Value', read: readScalar, write: writeScalar, isList: false },
}

interface ReferenceProps {
  path: string
  value: Reference
  change: (value: unknown) => void
}

/** Another field of the event, or of the item of a list. */
function ReferenceChip({ path, value, change }: ReferenceProps) {
  const { suggestions } = useEditing()
  const [[key, field] = ['field', '']] = Object.entries(value)
  const fault = useFault(`${path}.${key}`, 'Choose a field')
  const { fields } = key === 'root' ? (suggestions.event ?? suggestions) : suggestions
  return (
    <>
      <Combobox
        label="Other field"
        path={`${path}.${key}`}
        placeholder="other field"
        look={`chip field-chip ${field === '' ? 'empty-chip' : fault.look}`}
        value={field}
        options={fields}
        change={(next) => change({ [key]: next })}
        takesFirst
        {...fault.own}
      />
      {fault.text}
    </>
  )
}

type Source = 'constant' | 'field' | 'root'

/** What the value is: a constant, or another field. */
function SourceMenu({
  kind,
  path,
  value,
  change,
}: Omit<ReferenceProps, 'value'> & { kind: ValueKind; value: unknown }) {
  const { event: outer } = useEditing().suggestions
  const now = (isReference(value) ? Object.keys(value)[0] : 'constant') as Source
  const words: [Source, string][] = [
    ['constant', 'a value'],
    ['field', outer ? 'another field of the item' : 'another field'],
    ...(outer ? ([['root', 'a field of the event']] satisfies [Source, string][]) : []),
  ]
  const choose = (source: Source) => {
    change(source === 'constant' ? emptyValue(kind) : { [source]: '' })
    focusSoon(path)
  }
  return (
    <Menu
      label="Compare with something else"
      look="plain small other"
      edge="start"
      icon="down"
      items={words
        .filter(([source]) => source !== now)
        .map(([source, label]) => ({ label: `Compare with ${label}`, run: () => choose(source) }))}
    >
      {outer && now !== 'constant' && (
        <>
          {now === 'root' ? 'of the event' : 'of the item'} <Icon name="down" />
        </>
      )}
    </Menu>
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
    <ChipInput
      {...{ label, path, fault }}
      type="number"
      step="any"
      isEmpty={!isFilled}
      placeholder="number"
      value={isFilled ? (value as string) : ''}
      change={(text) => change(text === '' ? null : readNumber(text))}
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
  const [text, setText] = useTyped(value, read, write)
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
      {...fault.own}
    />
  )
}

/** The values before the last comma, and what is typed behind it. */
function splitList(text: string, isList: boolean): [string, string] {
  const comma = isList ? text.lastIndexOf(',') : -1
  return comma === -1 ? ['', text] : [`${text.slice(0, comma + 1)} `, text.slice(comma + 1)]
}
