import type { Condition } from '@automation/client'
import { countOperators } from '@automation/engine'
import { type GroupKind, listOf } from '../../../logic/editing/condition-kinds.js'
import { Combobox } from '../../../parts/combobox.js'
import { ComparisonChip } from './comparison-chip.js'
import { focusSoon, useEditing } from './editing.js'
import { useFault } from './faults.js'
import { NumberChip } from './value-chip.js'

const countNames = countOperators.map(({ name }) => name)

interface Props {
  condition: Condition
  kind: GroupKind
  path: string
  change: (condition: Condition) => void
}

/** Behind the quantifier: the list, and how many of its items are asked for. `items` `is at least` `3`. */
export function ListChips({ condition, kind, path, change }: Props) {
  const { suggestions } = useEditing()
  const list = listOf(condition, kind)
  const fault = useFault(`${path}.${kind.keyword}`, 'Choose a list')
  const valueFault = useFault(`${path}.value`)
  const isCount = kind.keyword === 'count'
  const { operator = '', value } = condition as { operator?: string; value?: unknown }
  const write = (changes: object) => change({ ...condition, ...changes } as Condition)
  return (
    <>
      <Combobox
        label="List"
        path={`${path}.${kind.keyword}`}
        placeholder="list"
        look={`chip field-chip ${list === '' ? 'empty-chip' : fault.look}`}
        value={list}
        options={suggestions.lists}
        change={(next) => write({ [kind.keyword]: next })}
        takesFirst
        taken={() => focusSoon(isCount ? `${path}.operator` : `${path}.that`)}
        {...fault.own}
      />
      {fault.text}
      {isCount && (
        <>
          <ComparisonChip
            path={path}
            operator={operator}
            offered={countNames}
            choose={(name) => write({ operator: name })}
          />
          <NumberChip
            label="Value"
            path={`${path}.value`}
            fault={valueFault}
            value={value}
            change={(next) => write({ value: next })}
          />
          {valueFault.text}
        </>
      )}
    </>
  )
}
