import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { nameChoice, nameField, nameInnerField } from '../../../logic/editing/action-words.js'
import { isHours } from '../../../logic/editing/hours.js'
import {
  emptyOfField,
  type FieldKind,
  type FieldSchema,
  kindOfField,
} from '../../../logic/editing/schema-kind.js'
import { readNumber } from '../../../logic/value-kind.js'
import { Combobox } from '../../../parts/combobox.js'
import { RemoveButton } from '../../../parts/remove-button.js'
import { TemplateInput } from '../../../parts/template-input.js'
import { AddChip } from './add-chip.js'
import { AddressChips } from './address-chips.js'
import { ChipInput } from './chip-input.js'
import { ConditionLine, ConditionLines } from './condition-lines.js'
import { filterOptions, useEditing } from './editing.js'
import { EventScope } from './event-scope.js'
import { useFault } from './faults.js'
import { HoursChips } from './hours-chips.js'
import { ObjectChips } from './object-chips.js'
import { ChoicesControl, TextsInput } from './texts-input.js'
import { useChoices } from './use-choices.js'
import { ZoneChip } from './zone-chip.js'

export interface ConfigField {
  name: string
  /** What stands before it in the sentence. */
  words: string
  schema: FieldSchema
  path: string
  value: unknown
  /** Something that could stand there. */
  example?: unknown
  change: (value: unknown) => void
  /** It stands in the line of what it is a part of. */
  isInner?: boolean
  /** Without it the field has to be there. */
  remove?: (() => void) | undefined
}

/** One field of an action, as its schema says it is filled in. */
export function ConfigChip(field: ConfigField) {
  const { name, words, schema, path, isInner = false, remove } = field
  const kind = kindOfField(schema)
  const fault = useFault(path)
  const label = words || nameField(name)
  if (name === 'timezone')
    return <ZoneChip path={path} value={String(field.value ?? '')} change={field.change} />
  // What is in them is removed by itself.
  const isWhole = kind === 'condition' || kind === 'addresses'
  return (
    <span
      class={blocks.has(kind) && !(isInner && kind === 'fields') ? 'config block' : 'config'}
      data-path={path}
    >
      {words && <span class="words">{words}</span>}
      <Control {...field} label={label} fault={fault} />
      {remove && !isWhole && <RemoveButton what={label} remove={remove} />}
      {kind !== 'addresses' && fault.text}
    </span>
  )
}

/** They have a line of their own. */
const blocks: ReadonlySet<FieldKind> = new Set([
  'json',
  'long text',
  'condition',
  'conditions',
  'fields',
  'hours',
])

type ControlProps = ConfigField & { label: string; fault: ReturnType<typeof useFault> }

function Control(props: ControlProps): ComponentChildren {
  const { schema, value, change, path, label, remove } = props
  switch (kindOfField(schema)) {
    case 'choice':
      return <ChoiceControl {...props} />
    case 'number':
      return <NumberControl {...props} />
    case 'switch':
      return (
        <input
          type="checkbox"
          aria-label={label}
          checked={value === true}
          onChange={({ currentTarget }) => change(currentTarget.checked)}
        />
      )
    case 'condition':
      return <ConditionControl {...props} />
    case 'fields':
      return <FieldsControl {...props} />
    case 'hours':
      return isHours(value) ? (
        <HoursChips path={path} hours={value} change={change} />
      ) : (
        <ObjectChips {...{ label, path, value, change }} hasTexts />
      )
    case 'conditions':
      return (
        <div class="nested">
          <ConditionLines
            conditions={value as never}
            path={path}
            joint="and"
            change={(next) => (next.length === 0 ? remove?.() : change(next))}
          />
        </div>
      )
    case 'addresses':
      return (
        <AddressChips
          {...{ label, path, value, change, remove }}
          placeholder={typeof props.example === 'string' ? props.example : 'ada@example.com'}
        />
      )
    case 'texts':
      return <TextsInput {...props} />
    case 'choices':
      return <ChoicesControl {...props} />
    case 'json':
      return <ObjectChips {...{ label, path, value, change }} hasTexts={hasTexts(schema)} />
    default:
      return <TextControl {...props} />
  }
}

function TextControl({ name, schema, path, value, example, change, label, fault }: ControlProps) {
  const { suggestions } = useEditing()
  const [isWanted, want] = useState(false)
  const choices = useChoices(name, isWanted)
  const text = String(value ?? '')
  const look = text === '' ? 'empty-chip' : fault.look
  // Filters in an example would be much for a beginning.
  const placeholder = typeof example === 'string' ? example.replace(/\s*\|[^}]*/g, '') : label
  const shared = {
    label,
    path,
    value: text,
    change,
    placeholder,
    ...fault.own,
  }
  if (choices !== undefined)
    return (
      <Combobox
        {...shared}
        look={`chip ${name === 'forEach' ? 'field-chip' : 'value-chip'} ${look}`}
        options={choices}
        takesFirst
        begin={() => want(true)}
      />
    )
  const isLong = kindOfField(schema) === 'long text'
  return (
    <TemplateInput
      {...shared}
      look={`${isLong ? 'text-chip' : 'chip'} value-chip ${look}`}
      rows={isLong ? 2 : undefined}
      fields={suggestions.fields}
      filters={filterOptions}
    />
  )
}

function ChoiceControl({ schema, path, value, change, label, fault }: ControlProps) {
  return (
    <Combobox
      label={label}
      path={path}
      look={`chip value-chip ${fault.look}`}
      isStrict
      value={String(value ?? '')}
      options={(schema.enum ?? []).map((one) => ({ value: one, text: nameChoice(one) }))}
      change={change}
      {...fault.own}
    />
  )
}

function NumberControl({ schema, path, value, change, label, fault }: ControlProps) {
  const isFilled = typeof value === 'number' || typeof value === 'string'
  return (
    <ChipInput
      {...{ label, path, fault }}
      type="number"
      min={schema.minimum}
      max={schema.maximum}
      value={isFilled ? value : ''}
      change={(text) => change(text === '' ? '' : readNumber(text))}
    />
  )
}

function ConditionControl({ path, value, change, remove = () => {} }: ControlProps) {
  return (
    <div class="nested">
      <ConditionLine
        condition={value as never}
        path={path}
        joint=""
        menu={[]}
        change={change}
        remove={remove}
      />
    </div>
  )
}

/** Whether all values are texts, so that `80` is one. */
function hasTexts({ patternProperties }: FieldSchema): boolean {
  return (
    patternProperties !== undefined && Object.values(patternProperties).every(({ type }) => type === 'string')
  )
}

/** Fields within a field, such as the attempts of a retry. Conditions of an event that is waited for begin in its data. */
function FieldsControl({ schema, path, value, change }: ControlProps) {
  const held = (value ?? {}) as Record<string, unknown>
  const { eventType } = held
  const fields = <InnerFields {...{ schema, path, held, change }} />
  return typeof eventType === 'string' ? <EventScope type={eventType}>{fields}</EventScope> : fields
}

type InnerProps = Pick<ControlProps, 'schema' | 'path' | 'change'> & { held: Record<string, unknown> }

function InnerFields({ schema, path, held, change }: InnerProps) {
  return (
    <span class="chips">
      {Object.entries(schema.properties ?? {}).map(([name, inner]) => {
        const isNeeded = schema.required?.includes(name)
        const { [name]: own, ...others } = held
        if (own === undefined && !isNeeded)
          return (
            <AddChip
              key={name}
              words={nameInnerField(name, schema.title) || nameField(name)}
              title={inner.description}
              path={`${path}.${name}`}
              add={() => change({ ...held, [name]: emptyOfField(inner) })}
            />
          )
        return (
          <ConfigChip
            key={name}
            name={name}
            words={nameInnerField(name, schema.title)}
            schema={inner}
            path={`${path}.${name}`}
            isInner
            example={schema.examples?.[0]?.[name]}
            value={own}
            change={(next) => change({ ...held, [name]: next })}
            remove={isNeeded ? undefined : () => change(others)}
          />
        )
      })}
    </span>
  )
}
