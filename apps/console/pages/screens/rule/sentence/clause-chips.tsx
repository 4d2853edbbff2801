import type { Condition } from '@automation/client'
import { useState } from 'preact/hooks'
import { listComparisons } from '../../../logic/editing/comparisons.js'
import { type Clause, isReference } from '../../../logic/editing/condition-kinds.js'
import { findNearestPath } from '../../../logic/paths.js'
import { show } from '../../../logic/show.js'
import { valueKindOf } from '../../../logic/value-kind.js'
import { Combobox } from '../../../parts/combobox.js'
import { ComparisonChip, operatorsByName } from './comparison-chip.js'
import { focusSoon, useEditing, vocabulary } from './editing.js'
import { useFault } from './faults.js'
import { emptyValue, ValueChip } from './value-chip.js'

const names = vocabulary.operators.map(({ name }) => name)

interface Props {
  clause: Clause
  path: string
  change: (clause: Condition) => void
}

/** A field of the event, a comparison, a value: `score` `is above` `80`. */
export function ClauseChips({ clause, path, change }: Props) {
  const { suggestions } = useEditing()
  const operator = operatorsByName.get(clause.operator)
  const kind = valueKindOf(operator?.value)
  const fault = useFault(`${path}.field`, 'Choose a field')
  const write = (changes: Partial<Clause>) => change({ ...clause, ...changes } as Condition)
  const choose = (name: string) => {
    const next = operatorsByName.get(name)
    const nextKind = valueKindOf(next?.value)
    const { value: _, ...rest } = clause
    const isKept = isReference(clause.value) ? next?.comparesFields : nextKind === kind
    const value = isKept ? clause.value : emptyValue(nextKind)
    change({ ...rest, operator: name, ...(nextKind !== 'none' && { value }) } as Condition)
  }
  return (
    <>
      <Combobox
        label="Field"
        path={`${path}.field`}
        placeholder="field"
        look={`chip field-chip ${clause.field === '' ? 'empty-chip' : fault.look}`}
        value={clause.field}
        options={suggestions.fields}
        change={(field) => write({ field })}
        takesFirst
        taken={() => focusSoon(`${path}.operator`)}
        {...fault.own}
      />
      <Comparison {...{ clause, path, choose }} />
      <ValueChip
        kind={kind}
        value={clause.value}
        path={`${path}.value`}
        example={operator?.example.value}
        seen={suggestions.valuesOf(clause.field)}
        comparesFields={operator?.comparesFields ?? false}
        change={(value) => write({ value })}
      />
      {fault.text}
      <About field={clause.field} take={(field) => write({ field })} />
    </>
  )
}

/** Only comparisons that read what events have in the field; the others come when somebody asks for them. */
function Comparison({
  clause: { field, operator },
  path,
  choose,
}: {
  clause: Clause
  path: string
  choose: (name: string) => void
}) {
  const { suggestions } = useEditing()
  const [isAll, showAll] = useState(false)
  const name = operatorsByName.get(operator)?.name ?? operator
  const fitting = listComparisons(names, isAll ? [] : suggestions.tellingOf(field))
  return (
    <ComparisonChip
      path={path}
      operator={operator}
      offered={names.filter((one) => fitting.includes(one) || one === name)}
      choose={choose}
      more={fitting.length < names.length ? () => showAll(true) : undefined}
    />
  )
}

/** What events have in the field; or that none has it, and which one may be meant. */
function About({ field, take }: { field: string; take: (field: string) => void }) {
  const { suggestions } = useEditing()
  const example = suggestions.exampleOf(field)
  if (example !== undefined) return <span class="sub example">for example {show(example)}</span>
  const known = suggestions.fields.map(({ value }) => value)
  if (field === '' || known.length === 0 || known.includes(field)) return null
  const near = findNearestPath(field, known) ?? known.find((one) => one.startsWith(field))
  return (
    <span class="sub wait example">
      No {suggestions.event ? 'item' : 'event'} has {field} so far.{' '}
      {near && (
        <button type="button" class="link" onClick={() => take(near)}>
          Use {near}
        </button>
      )}
    </span>
  )
}
