import type { Condition } from '@automation/client'
import type { ComponentChildren } from 'preact'
import {
  changeKind,
  childPath,
  childrenOf,
  childrenPath,
  emptyClause,
  emptyList,
  firstPathOf,
  type GroupKind,
  groupKindOf,
  groupKinds,
  isClause,
  isTime,
  listKinds,
  listOf,
  makeGroup,
  nameCondition,
  withChildren,
} from '../../../logic/editing/condition-kinds.js'
import { describeCondition } from '../../../logic/editing/describe-condition.js'
import { beginHours } from '../../../logic/editing/hours.js'
import { Combobox } from '../../../parts/combobox.js'
import { Icon } from '../../../parts/icon.js'
import type { MenuItem } from '../../../parts/menu.js'
import { ClauseChips } from './clause-chips.js'
import { ItemScope, useEditing } from './editing.js'
import { FaultOf } from './faults.js'
import { HoursChips } from './hours-chips.js'
import { JsonChip } from './json-chip.js'
import { LineEnd } from './line-end.js'
import { ListChips } from './list-chips.js'
import { useLines } from './use-lines.js'
import { ownZone } from './zone-chip.js'

interface ListProps {
  conditions: Condition[]
  path: string
  change: (conditions: Condition[]) => void
  /** Stands before each condition but the first. */
  joint: string
  /** Before the first. */
  begin?: string
  /** Shown at the end of each line. */
  note?: ((index: number) => string | undefined) | undefined
}

/** Conditions of one group, a line each. */
export function ConditionLines({ conditions, path, change, joint, begin = '', note }: ListProps) {
  const { suggestions } = useEditing()
  const lines = useLines({ items: conditions, path, write: change, nameOf: nameCondition, firstPathOf })
  const menuOf = (index: number): MenuItem[] => [
    ...lines.menuOf(index),
    ...groupKinds.map((kind) => ({
      label: `Put into "${kind.words}"`,
      run: () => lines.change(index, makeGroup(kind, [conditions[index] as Condition]) as Condition),
    })),
  ]
  const begins: [string, Condition][] = [
    ['Condition', emptyClause],
    ['Condition group', { any: [emptyClause] } as Condition],
    // There are no lists within lists.
    ...(suggestions.event
      ? []
      : ([
          ['List', emptyList],
          ['Hours', { time: beginHours(ownZone) } as never],
        ] as [string, Condition][])),
  ]
  return (
    <>
      <ul class="lines">
        {conditions.map((condition, index) => (
          <li key={index} onKeyDown={lines.moveByKey(index)}>
            <ConditionLine
              condition={condition}
              path={lines.pathOf(index)}
              joint={index === 0 ? begin : joint}
              note={note?.(index)}
              menu={menuOf(index)}
              change={(next) => lines.change(index, next)}
              remove={() => lines.remove(index)}
            />
          </li>
        ))}
      </ul>
      <div class="line">
        <span class="joint" />
        <div class="row">
          {begins.map(([words, condition]) => (
            <button key={words} type="button" class="plain small" onClick={() => lines.add(condition)}>
              <Icon name="plus" /> {words}
            </button>
          ))}
        </div>
      </div>
    </>
  )
}

interface LineProps {
  condition: Condition
  path: string
  joint: ComponentChildren
  note?: string | undefined
  menu: MenuItem[]
  change: (condition: Condition) => void
  remove: () => void
}

/** One condition, of any kind. */
export function ConditionLine({ condition, path, joint, note, menu, change, remove }: LineProps) {
  const kind = groupKindOf(condition)
  const name = nameCondition(condition)
  return (
    <>
      <fieldset class="line" aria-label={`Condition: ${describeCondition(condition)}`} data-path={path}>
        <span class="joint">{joint}</span>
        <div class="chips">
          {isClause(condition) ? (
            <ClauseChips clause={condition} path={path} change={change} />
          ) : isTime(condition) ? (
            <>
              <span class="words">it is</span>
              <HoursChips
                path={`${path}.time`}
                hours={condition.time}
                change={(time) => change({ time } as never)}
              />
            </>
          ) : kind ? (
            <>
              <KindChip {...{ condition, kind, path, change }} />
              {kind.isList && <ListChips {...{ condition, kind, path, change }} />}
            </>
          ) : (
            <JsonChip label={name} path={path} value={condition} change={(next) => change(next as Condition)}>
              {describeCondition(condition)}
            </JsonChip>
          )}
          <FaultOf path={path} />
        </div>
        <LineEnd name={name} menu={menu} remove={remove}>
          {note !== undefined && <span class="sub count">{note}</span>}
        </LineEnd>
      </fieldset>
      {kind && <GroupLines {...{ condition, kind, path, change, remove }} />}
    </>
  )
}

interface GroupProps {
  condition: Condition
  kind: GroupKind
  path: string
  change: (condition: Condition) => void
}

/** What makes it a group, or how many items of a list are meant. */
function KindChip({ condition, kind, path, change }: GroupProps) {
  const kinds = kind.isList ? listKinds : groupKinds
  return (
    <Combobox
      label={kind.isList ? 'How many' : 'Condition group'}
      path={`${path}.kind`}
      look="chip"
      isStrict
      value={kind.keyword}
      options={kinds.map(({ keyword, words }) => ({ value: keyword, text: words }))}
      change={(keyword) => {
        const next = kinds.find((one) => one.keyword === keyword)
        const changed = next && changeKind(condition, kind, next)
        if (changed) change(changed)
      }}
    />
  )
}

function GroupLines({ condition, kind, path, change, remove }: GroupProps & { remove: () => void }) {
  const children = childrenOf(condition, kind)
  if (!Array.isArray(children)) return null
  const write = (list: Condition[]) => {
    const group = withChildren(condition, kind, list)
    return group === undefined ? remove() : change(group)
  }
  const [only] = children
  const inner =
    kind.isSingle && only ? (
      <ConditionLine
        condition={only}
        path={childPath(path, kind, 0)}
        joint=""
        menu={[]}
        change={(next) => write([next])}
        remove={remove}
      />
    ) : (
      <ConditionLines
        conditions={children}
        path={childrenPath(path, kind)}
        joint={kind.joint}
        begin={kind.isList ? 'with' : ''}
        change={write}
      />
    )
  return (
    <div class="nested">
      {kind.isList ? <ItemScope list={listOf(condition, kind)}>{inner}</ItemScope> : inner}
    </div>
  )
}
