import { useState } from 'preact/hooks'
import { findPlace, listMembers } from '../../../logic/editing/group-members.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { readNumber } from '../../../logic/value-kind.js'
import { Combobox } from '../../../parts/combobox.js'
import { RemoveButton } from '../../../parts/remove-button.js'
import { linkTo } from '../../../state/use-filters.js'
import { useSummaries } from '../../../state/use-rules.js'
import { AddChip } from './add-chip.js'
import { ChipInput } from './chip-input.js'
import { focusSoon, useEditing } from './editing.js'
import { useFault } from './faults.js'

interface Props {
  ruleId: string
  definition: Definition
  set: (changes: Partial<Definition>) => void
}

/** Of the rules of a group only the first that matches runs: *in group* routing *as number* 20. */
export function GroupChips({ ruleId, definition, set }: Props) {
  const { trigger, group = null, order = null } = definition
  const { removes } = useEditing()
  const [isWanted, want] = useState(false)
  const others = useSummaries(isWanted).filter((rule) => rule.trigger === trigger && rule.id !== ruleId)
  const [groupFault, orderFault] = [useFault('group'), useFault('order')]
  if (group === null)
    return (
      <AddChip
        words="group"
        title="Of the rules of a group only the first that matches runs"
        path="group"
        add={() => set({ group: '', order: 10 })}
      />
    )
  return (
    <>
      <span class="config">
        <span class="words">in group</span>
        <Combobox
          label="Group"
          path="group"
          placeholder="name"
          look={`chip value-chip ${group === '' ? 'empty-chip' : groupFault.look}`}
          value={group}
          options={listGroups(others)}
          change={(name) => set({ group: name, order: findPlace(others, name, order) })}
          takesFirst
          begin={() => want(true)}
          taken={() => focusSoon('order')}
          {...groupFault.own}
        />
        {groupFault.text}
      </span>
      <span class="config">
        <span class="words">as number</span>
        <ChipInput
          label="Number in the group"
          path="order"
          fault={orderFault}
          type="number"
          isEmpty={order === null}
          min={0}
          value={order ?? ''}
          onFocus={() => want(true)}
          change={(typed) => set({ order: typed === '' ? null : (readNumber(typed) as number) })}
        />
        <RemoveButton
          what="the group"
          remove={() => {
            removes('the group')
            set({ group: null, order: null })
          }}
        />
        {orderFault.text}
      </span>
      <Members names={listMembers(others, { id: ruleId, group, order })} group={group} />
    </>
  )
}

function listGroups(rules: readonly { group: string | null }[]) {
  const names = rules.flatMap(({ group }) => (group === null ? [] : [group]))
  return [...new Set(names)].sort().map((value) => {
    const count = names.filter((name) => name === value).length
    return { value, hint: count === 1 ? '1 rule' : `${count} rules` }
  })
}

function Members({ names, group }: { names: readonly string[]; group: string }) {
  return (
    <span class="sub members">
      Only the first that matches runs{names.length > 1 && `: ${names.join(', ')}`}.{' '}
      {names.length > 1 && <a href={linkTo('rules', { group })}>Change the order</a>}
    </span>
  )
}
