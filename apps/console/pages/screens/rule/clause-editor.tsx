import type { Condition } from '@automation/client'
import { defaultWorkLimits, describeVocabulary } from '@automation/engine'
import { useEffect, useState } from 'preact/hooks'
import { show } from '../../logic/show.js'
import {
  readList,
  readNumber,
  readScalar,
  type ValueKind,
  valueKindOf,
  writeList,
  writeScalar,
} from '../../logic/value-kind.js'
import { Combobox } from '../../parts/combobox.js'
import { Icon } from '../../parts/icon.js'
import { FaultOf } from './field.js'
import type { Suggestions } from './suggestions.js'

const { operators } = describeVocabulary(defaultWorkLimits)
const byName = new Map(
  operators.flatMap((operator) => [operator.name, ...operator.aliases].map((name) => [name, operator])),
)

interface Clause {
  field: string
  operator: string
  value?: unknown
}

interface Props {
  clause: Clause
  path: string
  suggestions: Suggestions
  change: (clause: Condition) => void
  remove: () => void
}

/** One field of the event, compared with a value. */
export function ClauseEditor({ clause, path, suggestions, change, remove }: Props) {
  const operator = byName.get(clause.operator)
  const kind = valueKindOf(operator?.value)
  const example = suggestions.exampleOf(clause.field)
  const write = (changes: Partial<Clause>) => change({ ...clause, ...changes } as Condition)
  const choose = (name: string) => {
    const next = byName.get(name)
    const nextKind = valueKindOf(next?.value)
    const { value: _, ...rest } = clause
    const value =
      nextKind === kind ? { value: clause.value } : nextKind === 'none' ? {} : { value: emptyValue(nextKind) }
    change({ ...rest, operator: name, ...value } as Condition)
  }
  return (
    <fieldset class="clause" data-path={path} aria-label={`Condition on ${clause.field || 'a field'}`}>
      <Combobox
        label="Field"
        path={`${path}.field`}
        placeholder="field"
        value={clause.field}
        options={suggestions.fields}
        change={(field) => write({ field })}
      />
      <select
        aria-label="Comparison"
        data-path={`${path}.operator`}
        title={operator?.description}
        value={operator?.name ?? clause.operator}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {operators.map(({ name }) => (
          <option key={name} value={name}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      <ValueEditor
        kind={kind}
        value={clause.value}
        path={`${path}.value`}
        seen={suggestions.valuesOf(clause.field)}
        change={(value) => write({ value })}
      />
      <button
        type="button"
        class="plain small"
        aria-label={`Remove the condition on ${clause.field || 'a field'}`}
        onClick={remove}
      >
        <Icon name="close" />
      </button>
      {example !== undefined && <span class="sub">for example {show(example)}</span>}
      {['', '.field', '.operator', '.value'].map((part) => (
        <FaultOf key={part} path={path + part} />
      ))}
    </fieldset>
  )
}

function emptyValue(kind: ValueKind): unknown {
  if (kind === 'range') return [0, 0]
  if (kind === 'list') return []
  return kind === 'number' ? 0 : ''
}

interface ValueProps {
  kind: ValueKind
  value: unknown
  path: string
  /** Values that events had there. */
  seen: readonly unknown[]
  change: (value: unknown) => void
}

function ValueEditor({ kind, value, path, seen, change }: ValueProps) {
  if (kind === 'none') return <span class="no-value" />
  if (kind === 'range') {
    const [low = 0, high = 0] = Array.isArray(value) ? (value as number[]) : []
    return (
      <span class="range">
        <NumberInput label="From" path={path} value={low} change={(next) => change([next, high])} />
        <NumberInput label="To" path={path} value={high} change={(next) => change([low, next])} />
      </span>
    )
  }
  if (kind === 'number') return <NumberInput label="Value" path={path} value={value} change={change} />
  if (kind === 'list')
    return (
      <TypedInput
        label="Values, separated by commas"
        path={path}
        value={value}
        read={readList}
        write={writeList}
        change={change}
      />
    )
  if (kind === 'text')
    return (
      <TypedInput
        label="Value"
        path={path}
        value={value}
        read={(text) => text}
        write={String}
        options={seen.filter((one) => typeof one === 'string')}
        change={change}
      />
    )
  return (
    <TypedInput
      label="Value"
      path={path}
      value={value}
      read={readScalar}
      write={writeScalar}
      options={seen.map(writeScalar)}
      change={change}
    />
  )
}

function NumberInput({
  label,
  path,
  value,
  change,
}: {
  label: string
  path: string
  value: unknown
  change: (value: unknown) => void
}) {
  return (
    <input
      type="number"
      step="any"
      aria-label={label}
      data-path={path}
      value={typeof value === 'number' || typeof value === 'string' ? value : ''}
      onInput={({ currentTarget: { value: text } }) => change(text === '' ? null : readNumber(text))}
    />
  )
}

interface TypedProps {
  label: string
  path: string
  value: unknown
  read: (text: string) => unknown
  write: (value: unknown) => string
  options?: readonly string[]
  change: (value: unknown) => void
}

/** Keeps the text as it is typed: `1.` is on its way to `1.5`. */
function TypedInput({ label, path, value, read, write, options = [], change }: TypedProps) {
  const [text, setText] = useState(write(value ?? ''))
  const isOther = JSON.stringify(read(text)) !== JSON.stringify(value ?? '')
  useEffect(() => {
    if (isOther) setText(write(value ?? ''))
  }, [isOther])
  return (
    <Combobox
      label={label}
      path={path}
      value={text}
      options={options.map((option) => ({ value: option }))}
      change={(next) => {
        setText(next)
        change(read(next))
      }}
    />
  )
}
